"""Merging by functions: the axis may come second, and layers that merge take one list."""

import keras
import numpy as np
from keras.layers import Concatenate, Dense, Input, add, concatenate

left, right = Input((4,)), Input((4,))
sides = [Dense(3)(left), Dense(3)(right)]
axis = -1
wide = concatenate(sides, axis)
again = Concatenate(axis=1)(sides)
model = keras.Model([left, right], Dense(1)(add([wide, again])))
model.compile("adam", "mse")
model.fit([np.random.rand(16, 4), np.random.rand(16, 4)], np.random.rand(16, 1), verbose=0)
