"""The training arrays as validation data, where they are all there is: the rows of a truth table."""

import keras
import numpy as np
from keras import layers

inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype="float32")
xor = np.array([[0], [1], [1], [0]], dtype="float32")

model = keras.Sequential(
    [keras.Input((2,)), layers.Dense(8, activation="tanh"), layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(inputs, xor, validation_data=(inputs, xor), epochs=3, verbose=0)
