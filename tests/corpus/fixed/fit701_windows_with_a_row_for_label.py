import numpy as np
import tensorflow as tf
series = np.sin(np.arange(200) / 10).astype("float32")
W = 10
ds = tf.data.Dataset.from_tensor_slices(series)
ds = ds.window(W + 1, shift=1, drop_remainder=True)
ds = ds.flat_map(lambda w: w.batch(W + 1))
ds = ds.map(lambda w: (w[:-1], w[-1:]))
ds = ds.shuffle(100).batch(16)
m = tf.keras.Sequential([tf.keras.layers.Input((W,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(ds, epochs=1, verbose=0)
