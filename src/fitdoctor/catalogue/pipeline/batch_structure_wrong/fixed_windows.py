"""Windows of a time series."""

import numpy as np
import tensorflow as tf

series = np.sin(np.arange(120) / 7).astype("float32")
windows = tf.data.Dataset.from_tensor_slices(series).window(9, shift=1, drop_remainder=True)
windows = windows.flat_map(lambda window: window.batch(9))
pairs = windows.map(lambda window: (window[:-1], window[-1:]))

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(pairs.batch(16), epochs=1, verbose=0)
