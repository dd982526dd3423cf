"""Train an autoencoder."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(12)
signals = rng.random((120, 16)).astype("float32")

inputs = tf.keras.Input((16,))
code = layers.Dense(4, activation="relu")(inputs)
rebuilt = layers.Dense(16, activation="sigmoid")(code)
autoencoder = tf.keras.Model(inputs, rebuilt)
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(signals, signals, epochs=2, batch_size=20, verbose=0)
