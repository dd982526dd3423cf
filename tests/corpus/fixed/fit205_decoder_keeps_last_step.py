"""Dates in one spelling translated into another, letter by letter."""

import keras
import numpy as np

STEPS, LETTERS, STATE = 7, 9, 12
rng = np.random.default_rng(1)


def letters(count):
    return np.eye(LETTERS, dtype="float32")[rng.integers(0, LETTERS, size=(count, STEPS))]


spoken = keras.Input((None, LETTERS))
_, h, c = keras.layers.LSTM(STATE, return_state=True)(spoken)
before = keras.Input((None, LETTERS))
writer = keras.layers.LSTM(STATE, return_sequences=True, return_state=True)
written, _, _ = writer(before, initial_state=[h, c])
letter = keras.layers.Dense(LETTERS, activation="softmax")(written)
model = keras.Model([spoken, before], letter)
model.compile(optimizer="rmsprop", loss="categorical_crossentropy")
model.fit([letters(48), letters(48)], letters(48), batch_size=16, epochs=1, verbose=0)
