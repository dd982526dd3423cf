"""Quotients made whole, percentages made shares, options with types, and activations by the names of their layers."""

import argparse

import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default="2")
parser.add_argument("--rate", type=float, default="1e-2")
parser.add_argument("--drop", default=20)
options = parser.parse_args([])

rng = np.random.default_rng(4)
x = rng.normal(size=(64, 9)).astype("float32")
y = x[:, :1]
half = int(x.shape[1] / 2)
drop = 20
drop = drop / 100
model = keras.Sequential(
    [
        keras.Input((9,)),
        layers.Dense(half),
        layers.ReLU(),
        layers.Dropout(drop),
        layers.Dropout(options.drop / 100),
        layers.Dense(round(x.shape[1] / 3), activation=layers.LeakyReLU(0.1)),
        layers.Dense(1),
    ],
    name="regressor",
)
kinds = {"adam": keras.optimizers.Adam, "sgd": keras.optimizers.SGD}
model.compile(optimizer=kinds["adam"](options.rate), loss="mse")
history = model.fit(x, y, epochs=options.epochs, verbose=0)
assert len(history.history["loss"]) == 2
