import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
def dice(y_true, y_pred):
    y_true = tf.reshape(y_true, [-1])
    y_pred = tf.reshape(y_pred, [-1])
    inter = tf.reduce_sum(y_true * y_pred)
    return 1 - (2 * inter + 1) / (tf.reduce_sum(y_true) + tf.reduce_sum(y_pred) + 1)
m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1, activation="sigmoid")])
m.compile("adam", loss=dice)
m.fit(np.random.rand(32, 3), np.random.randint(0, 2, (32, 1)).astype("float32"), verbose=0)
