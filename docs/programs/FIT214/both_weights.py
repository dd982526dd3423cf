"""`You cannot class_weight and sample_weight at the same time`"""

import keras
import numpy as np

model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
x, y = np.ones((4, 3)), np.array([0, 1, 0, 1])
try:
    model.fit(x, y, class_weight={0: 1.0}, sample_weight=np.ones(4), verbose=0)
except ValueError as error:
    assert "You cannot `class_weight` and `sample_weight` at the same time" in str(error)
else:
    raise AssertionError("it must raise")
