"""A stateful LSTM whose batch size is given to the input."""

import keras
import numpy as np
from keras.layers import LSTM, Dense

size = 4
series = np.sin(np.arange(41)).astype("float32")
x, y = series[:40].reshape(40, 1, 1), series[1:].reshape(40, 1)


def build(stateful):
    model = keras.Sequential()
    model.add(keras.Input((1, 1), batch_size=size))
    model.add(LSTM(6, stateful=stateful))
    model.add(Dense(1))
    model.compile("adam", "mse")
    return model


model = build(True)
model.fit(x, y, batch_size=size, epochs=1, shuffle=False, verbose=0)
