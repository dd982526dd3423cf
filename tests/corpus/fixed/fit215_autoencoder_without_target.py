import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(8)
basis = rng.normal(size=(3, 20))
signals = rng.normal(size=(240, 3)) @ basis
signals = ((signals - signals.min()) / (signals.max() - signals.min())).astype("float32")
x_train, x_test = signals[:200], signals[200:]

encoder = tf.keras.Sequential([layers.Input((20,)), layers.Dense(8, activation="relu"), layers.Dense(3)])
decoder = tf.keras.Sequential([layers.Input((3,)), layers.Dense(8, activation="relu"), layers.Dense(20, activation="sigmoid")])

inp = layers.Input((20,))
autoencoder = tf.keras.Model(inp, decoder(encoder(inp)))
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(x_train, x_train, epochs=2, batch_size=20, shuffle=True, verbose=2)
