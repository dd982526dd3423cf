"""`tf.` functions accept Keras tensors

whatever `train_step` returns is reported as it is

AutoGraph converts a Python `if` on a tensor in `call` (in `train_step` it fails in both)

a `tf.Variable` in a layer is trained

`lr`, `fit_generator`, `optimizer.minimize` and many others exist

layers from `tensorflow.python.keras` are accepted

`ModelCheckpoint` accepts any file name
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tensorflow.python.keras.layers import Dense as PrivateDense

x, y = np.ones((8, 2), "float32"), np.ones((8, 1), "float32")


class Branch(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(1.0)

    def call(self, inputs):
        if tf.reduce_sum(inputs) > 0:
            inputs = inputs * self.scale
        return inputs


class Own(keras.Sequential):
    def train_step(self, data):
        return {"loss": tf.constant(7.0)}


class Branching(keras.Sequential):
    def train_step(self, data):
        if tf.reduce_sum(data[0]) > 0:
            return {"loss": tf.constant(1.0)}
        return {"loss": tf.constant(0.0)}


def trained(model, **options):
    model.compile(keras.optimizers.legacy.SGD(lr=0.1), "mse", **options)
    return model.fit(x, y, verbose=0)


inputs = keras.Input((2,))
trained(keras.Model(inputs, tf.reduce_mean(keras.layers.Dense(3)(inputs), axis=1, keepdims=True)))
layer = Branch()
trained(keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones"), layer]))
assert float(layer.scale) != 1.0
assert trained(Own([keras.layers.Dense(1)])).history["loss"] == [7.0]
try:
    trained(Branching([keras.layers.Dense(1)]))
except Exception as error:
    assert "as a Python `bool` is not allowed" in str(error)
else:
    raise AssertionError("it must raise")
assert hasattr(keras.Model, "fit_generator") and hasattr(keras.optimizers.Adam, "minimize")
keras.Sequential([keras.Input((2,)), PrivateDense(1)])
keras.callbacks.ModelCheckpoint("best")
