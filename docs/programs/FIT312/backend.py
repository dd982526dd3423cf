"""Functions of the old `keras.backend` raise the same error, or an `AttributeError` such as `'str' object has no attribute
'base_dtype'`.
"""

import keras
from tensorflow.python.keras import backend


def raised(action):
    try:
        action()
    except (AttributeError, ValueError) as error:
        return str(error)
    return ""


x = keras.layers.Dense(2)(keras.Input((3,)))
assert raised(lambda: backend.mean(x)) == "'str' object has no attribute 'base_dtype'"
assert raised(lambda: backend.sum(x)).startswith(
    "A KerasTensor cannot be used as input to a TensorFlow function"
)
