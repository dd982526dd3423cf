"""`from tensorflow.python.keras import …` | `from keras import …`"""

import keras
from tensorflow.python.keras.layers import Dense

try:
    keras.Sequential([keras.Input((3,)), Dense(1)])
except ValueError as error:
    assert "Only instances of `keras.Layer` can be added" in str(error)
else:
    raise AssertionError("it must raise")
keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
