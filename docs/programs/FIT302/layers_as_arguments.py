"""`Sequential(Dense(8), Dense(1))` raises `ValueError: Expected trainable to be a boolean`"""

from keras import Sequential
from keras.layers import Dense

try:
    Sequential(Dense(8), Dense(1))
except ValueError as error:
    assert "Expected `trainable` to be a boolean" in str(error)
else:
    raise AssertionError("it must raise")
