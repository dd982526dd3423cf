"""Inputs and targets of one shape in a list are stacked into one tensor."""

import numpy as np
import tensorflow as tf

x = np.random.rand(40, 6).astype("float32")
y = np.random.rand(40, 6).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(6)])
model.compile("adam", "mse")
model.fit(ds, epochs=1, verbose=0)
