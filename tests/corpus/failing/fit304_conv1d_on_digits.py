"""Digits in grey, with the convolutions of a model for sound."""

import numpy as np
from keras import Sequential, layers

digits = np.random.default_rng(0).random((48, 16, 16, 1)).astype("float32")
names = np.arange(48) % 10

net = Sequential()
net.add(layers.Conv1D(8, 3, activation="relu"))  # <- FIT304
net.add(layers.Flatten())
net.add(layers.Dense(10, activation="softmax"))
net.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
net.fit(digits, names, batch_size=16, epochs=1, verbose=0)
