"""Modules that only an older version has, imported only there."""

import numpy as np
import tensorflow as tf

TF2 = tf.__version__.startswith("2")
if TF2:
    from tensorflow.keras.layers import LSTM
else:
    from tensorflow.contrib import rnn
    import tensorflow.contrib.layers as contrib_layers
    from tensorflow.examples.tutorials.mnist import input_data

CELL = "lstm"


def cell(units, kind):
    if kind == "lstm":
        return tf.keras.layers.LSTM(units)
    return rnn.BasicLSTMCell(units)


def regular(kind):
    if kind == "x":
        return contrib_layers.l2_regularizer(0.1)
    return tf.keras.regularizers.l2(0.1)


m = tf.keras.Sequential([tf.keras.Input((5, 3)), cell(4, "lstm"), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(np.random.rand(16, 5, 3), np.random.rand(16, 1), verbose=0)
