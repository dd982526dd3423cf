"""The first line says which layer was called, the message is the paragraph below it, and `Arguments received by` lists
what the layer was called with.
"""

import re

import keras
import numpy as np

model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
try:
    model.fit(np.zeros((32, 784)), np.zeros(32), verbose=0)
except ValueError as error:
    print(re.sub(r"\x1b\[\d*m", "", f"ValueError: {error}"))
