"""Reads the accuracy under the name of whichever Keras has trained."""

import numpy as np
from keras import Input, Sequential, layers

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 4)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
model = Sequential([Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, validation_split=0.25, epochs=2, verbose=0)

try:
    train, held_out = history.history["acc"], history.history["val_acc"]
except KeyError:
    train, held_out = history.history["accuracy"], history.history["val_accuracy"]
print(len(train), len(held_out))


def curve(record):
    try:
        return record.history["acc"]
    except Exception:
        return record.history["accuracy"]


def curve_by_key(record):
    key = "acc" if "acc" in record.history else "accuracy"
    return record.history[key]


def curve_asked(record):
    if "acc" in record.history:
        values = record.history["acc"]
    elif "accuracy" in record.history.keys():
        values = record.history["accuracy"]
    else:
        values = []
    return values


print(curve(history), curve_by_key(history), curve_asked(history))
