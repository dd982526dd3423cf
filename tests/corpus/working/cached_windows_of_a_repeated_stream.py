import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(39)
x = rng.normal(size=(200, 4)).astype("float32")
rows = tf.data.Dataset.from_tensor_slices((x, x[:, :1]))
endless = rows.cache().shuffle(200).repeat().batch(20).prefetch(2)
some = rows.repeat().take(400).cache().shuffle(1000).batch(20)
twice = rows.repeat(2).cache().batch(20)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(endless, steps_per_epoch=10, epochs=2, verbose=2)
model.fit(some, epochs=1, verbose=2)
model.fit(twice, epochs=1, verbose=2)
