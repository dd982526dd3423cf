"""An array of zeros is filled row by row, through the view of a row, before it is one-hot encoded."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
sequences = [rng.integers(1, 5, size=rng.integers(6, 12)) for _ in range(400)]
codes = np.zeros((400, 12))
for row in range(400):
    for place in range(len(sequences[row])):
        codes[row][place] = sequences[row][place]
x = keras.utils.to_categorical(codes)[:, :, 1:5]
y = rng.integers(0, 3, size=400)

model = keras.Sequential(
    [keras.Input((12, 4)), keras.layers.LSTM(4), keras.layers.Dense(3, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, verbose=0)
