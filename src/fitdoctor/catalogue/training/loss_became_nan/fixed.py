"""Train a linear model with SGD."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(40)
x = rng.normal(size=(256, 8)).astype("float32")
y = (x @ rng.normal(size=(8, 1))).astype("float32")

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(32), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=0.01), loss="mse")
model.fit(x, y, epochs=3, verbose=0)
