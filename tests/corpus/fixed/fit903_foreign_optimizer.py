import tensorflow as tf
import numpy as np
from tensorflow.keras.optimizers import Adam

X = np.random.default_rng(5).normal(size=(160, 6)).astype("float32")
y = np.abs(X).mean(axis=1)

inp = tf.keras.layers.Input((6,))
out = tf.keras.layers.Dense(1)(tf.keras.layers.Dense(12, activation="relu")(inp))
model = tf.keras.Model(inp, out)
model.compile(optimizer=Adam(learning_rate=1e-3), loss="mse")
model.fit(X, y, epochs=2, verbose=2)
