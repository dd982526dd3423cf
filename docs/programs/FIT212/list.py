"""A list or an array instead of a dict raises `AttributeError: 'list' object has no attribute 'get'`."""

import keras
import numpy as np

model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
try:
    model.fit(np.ones((4, 3)), np.array([0, 1, 0, 1]), class_weight=[1.0, 2.0], verbose=0)
except AttributeError as error:
    assert "'list' object has no attribute 'get'" in str(error)
else:
    raise AssertionError("it must raise")
