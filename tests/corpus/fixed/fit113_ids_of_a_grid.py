"""Cells of a board are numbered from 0 on every board, and the Embedding has a row for each."""

import keras
import numpy as np

CELLS = 64
BOARDS = 50

cells = np.arange(BOARDS * CELLS).reshape(BOARDS, CELLS) % CELLS
won = np.arange(BOARDS) % 2

model = keras.Sequential(
    [
        keras.Input((CELLS,)),
        keras.layers.Embedding(CELLS, 8),
        keras.layers.Flatten(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(cells, won, epochs=1, verbose=0)
