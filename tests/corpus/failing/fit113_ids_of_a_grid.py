"""Cells of a board are numbered over all boards, but the Embedding has rows for one board only."""

import keras
import numpy as np

CELLS = 64
BOARDS = 50

cells = np.arange(BOARDS * CELLS).reshape(BOARDS, CELLS)
won = np.arange(BOARDS) % 2

model = keras.Sequential(
    [
        keras.Input((CELLS,)),
        keras.layers.Embedding(CELLS, 8),  # <- FIT113
        keras.layers.Flatten(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(cells, won, epochs=1, verbose=0)
