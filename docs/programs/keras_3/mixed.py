"""a layer of `tf_keras` in a model of `keras` fails"""

import keras
import tf_keras

try:
    keras.Sequential([keras.Input((3,)), tf_keras.layers.Dense(1)])
except ValueError as error:
    assert "Only instances of `keras.Layer` can be added" in str(error)
else:
    raise AssertionError("it must raise")
