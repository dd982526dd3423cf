import numpy as np
import tensorflow as tf


def loss(y_true, y_pred):
    return np.mean(np.square(y_true.numpy() - y_pred.numpy()))  # <- FIT407


m = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
m.compile("adam", loss)
m.fit(np.random.rand(16, 4), np.random.rand(16, 1), epochs=1, verbose=0)
