"""Classify the mood of a melody from its notes."""

import numpy as np
from tensorflow.keras import Sequential
from tensorflow.keras.layers import LSTM, Dense, Embedding, Input

rng = np.random.default_rng(14)
notes = rng.integers(0, 40, size=(120, 12))
mood = rng.integers(0, 3, size=120)

model = Sequential(
    [
        Input((12,)),
        Embedding(40, 8),
        LSTM(16),
        Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(notes, mood, epochs=2, verbose=0)
