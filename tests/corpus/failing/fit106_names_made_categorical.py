"""Who is speaking, from a few measurements of the voice: the names are made into one-hot rows as they are."""

import numpy as np
from keras.layers import Dense, Dropout, Input
from keras.models import Sequential
from keras.utils import to_categorical

generator = np.random.default_rng(12)
speakers = ["Ada", "Grace", "Katherine", "Mary"]
voices = generator.normal(size=(160, 14))
names = generator.choice(speakers, size=160)
rows = to_categorical(names, len(speakers))  # <- FIT106

net = Sequential()
net.add(Input((14,)))
net.add(Dense(24, activation="relu"))
net.add(Dropout(0.1))
net.add(Dense(len(speakers), activation="softmax"))
net.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
net.fit(voices, rows, epochs=2, batch_size=32, verbose=0)
