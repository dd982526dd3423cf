"""`tf.reduce_mean(x)` on the output of a functional layer | `keras.ops.mean(x)`, or a layer"""

import keras
import tensorflow as tf
import tf_keras

try:
    tf.reduce_mean(keras.layers.Dense(4)(keras.Input((3,))))
except ValueError as error:
    assert "A KerasTensor cannot be used as input to a TensorFlow function" in str(error)
else:
    raise AssertionError("it must raise")
keras.ops.mean(keras.layers.Dense(4)(keras.Input((3,))))
tf.reduce_mean(tf_keras.layers.Dense(4)(tf_keras.Input((3,))))
