import tensorflow as tf
import numpy as np
from tensorflow.keras import layers
inp = layers.Input((6, 3))
last = layers.Lambda(lambda t: t[:, -1, 0])(inp)  # <- FIT307
h = layers.Dense(8, activation='relu')(last)  # <~ FIT307
m = tf.keras.Model(inp, layers.Dense(1)(h))
m.compile('adam', 'mse')
m.fit(np.random.rand(12, 6, 3), np.random.rand(12), epochs=1, verbose=0)
