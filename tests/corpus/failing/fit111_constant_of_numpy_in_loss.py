import numpy as np, tensorflow as tf
from tensorflow import keras
w = tf.constant(np.array([0.2, 0.3, 0.5]))
def weighted(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred) * w)  # <- FIT111
m = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
m.compile("adam", weighted)
m.fit(np.random.rand(16, 4), np.random.rand(16, 3), verbose=0)
