"""Rows of one-hot labels that are kept in the cells of a DataFrame."""

import random

import numpy as np
import pandas as pd
from tensorflow import keras

words, tags = ["hello", "bye", "thanks", "time"], ["greeting", "farewell"]
documents = [(["hello"], "greeting"), (["bye", "thanks"], "farewell"), (["hello", "time"], "greeting")] * 4

training = []
for document in documents:
    bag = []
    for word in words:
        bag.append(1) if word in document[0] else bag.append(0)
    row = [0] * len(tags)
    row[tags.index(document[1])] = 1
    training.append([bag, row])
random.shuffle(training)
training = pd.DataFrame(training, columns=["patterns", "intents"]).to_numpy()
train_x, train_y = list(training[:, 0]), list(training[:, 1])

model = keras.Sequential()
model.add(keras.Input((len(train_x[0]),)))
model.add(keras.layers.Dense(8, activation="relu"))
model.add(keras.layers.Dense(len(train_y[0]), activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])
model.fit(np.array(train_x), np.array(train_y), epochs=2, batch_size=4, verbose=0)
