import numpy as np
import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices((np.random.rand(64, 3), np.random.rand(64, 1))).batch(8).repeat()
it = ds
m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
m.compile('sgd', 'mse')
m.fit(it, steps_per_epoch=8, epochs=2)
