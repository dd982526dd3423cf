"""A loop over a setting of the command line stacks recurrent layers; all but the last return their sequences."""

import argparse

import numpy as np
from tensorflow import keras


def stack(units):
    model = keras.Sequential([keras.Input((12, 3))])
    for number, size in enumerate(units, 1):
        model.add(keras.layers.LSTM(size, return_sequences=number < len(units)))
        model.add(keras.layers.Dropout(0.1))
    model.add(keras.layers.Dense(1))
    return model


parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, nargs="+", default=[8, 4])
model = stack(parser.parse_args().units)
model.compile(optimizer="adam", loss="mse")
model.fit(np.zeros((16, 12, 3), "float32"), np.zeros((16, 1), "float32"), verbose=0)
