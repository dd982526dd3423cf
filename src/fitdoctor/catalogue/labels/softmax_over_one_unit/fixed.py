"""Classify messages as spam or not."""

import numpy as np
from tensorflow.keras import Sequential
from tensorflow.keras.layers import Dense, Input

rng = np.random.default_rng(4)
words = rng.random((200, 20)).astype("float32")
spam = (words[:, 0] + words[:, 1] > 1.0).astype("float32")

model = Sequential()
model.add(Input((20,)))
model.add(Dense(16, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(words, spam, epochs=2, verbose=0)
