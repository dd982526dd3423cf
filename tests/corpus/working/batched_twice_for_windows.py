"""batch twice on purpose: windows of 6 steps by the first, mini-batches of windows by the second."""
import numpy as np
import tensorflow as tf

s = np.sin(np.arange(1500) / 5).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(s).batch(6, drop_remainder=True)
ds = ds.map(lambda w: (w[:-1, None], w[-1])).batch(32)
m = tf.keras.Sequential([tf.keras.Input((5, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
m.compile(tf.keras.optimizers.Adam(0.05), "mse")
m.fit(ds, epochs=30, verbose=0)
r = m.evaluate(ds, verbose=0)
print(r)
