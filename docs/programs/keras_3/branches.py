"""`if tf.reduce_sum(x) > 0:` in `call` | `keras.ops.cond` or `keras.ops.where`"""

import keras
import numpy as np
import tensorflow as tf
import tf_keras


def trains(package, make_call):
    layer = type("Branch", (package.layers.Layer,), {"call": make_call})
    model = package.Sequential([package.layers.Dense(1), layer()])
    model.compile("sgd", "mse")
    try:
        model.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)
    except Exception as error:
        return str(error)
    return "trains"


def branch(self, x):
    if tf.reduce_sum(x) > 0:
        x = x * 2
    return x


def cond(self, x):
    return keras.ops.cond(keras.ops.sum(x) > 0, lambda: x * 2, lambda: x)


def where(self, x):
    return keras.ops.where(keras.ops.sum(x) > 0, x * 2, x)


assert "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed" in trains(keras, branch)
assert trains(tf_keras, branch) == trains(keras, cond) == trains(keras, where) == "trains"
