"""batch on a line of its own: what it gives is not kept."""

import numpy as np
import tensorflow as tf

x = np.random.rand(100, 5).astype("float32")
y = np.random.rand(100, 1).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y))
ds = ds.shuffle(100)
ds = ds.batch(10)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(5,)), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
history = model.fit(ds, epochs=2, verbose=0)
