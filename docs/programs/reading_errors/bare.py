"""**Bare.** The exception begins with its message."""

import keras
import numpy as np

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
try:
    model.fit(np.zeros((100, 8)), np.zeros(99))
except ValueError as error:
    print(f"ValueError: {error}")
