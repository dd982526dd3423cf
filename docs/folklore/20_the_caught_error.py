"""An `except ValueError` around `fit` shows that the shapes were wrong.

Many mistakes are a `ValueError`, among them a model that was not compiled. Print the message, or the `except` hides
the real cause (FIT301).
"""

import keras
import numpy as np

model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(10)])
try:
    model.fit(np.random.rand(32, 784), np.random.rand(32, 10), verbose=0)  # the shape is wrong, too
except ValueError as error:
    raised = error
assert "compile()" in str(raised)
assert "784" not in str(raised)
