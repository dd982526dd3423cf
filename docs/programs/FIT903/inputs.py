"""`All inputs values must be KerasTensors`"""

import keras
import tf_keras

inputs = tf_keras.Input((3,))
try:
    keras.Model(inputs, tf_keras.layers.Dense(1)(inputs))
except ValueError as error:
    assert str(error).startswith("All `inputs` values must be KerasTensors")
else:
    raise AssertionError("it must raise")
