"""Both have them in a column."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)]
)
model.compile("adam", "mse", metrics=["mae"])
x = np.random.rand(50, 4)
y = np.random.rand(50, 1)
model.fit(x, y, epochs=1, verbose=0)
y2 = y * 2.0
model.fit(x, y2, epochs=1, verbose=0)
