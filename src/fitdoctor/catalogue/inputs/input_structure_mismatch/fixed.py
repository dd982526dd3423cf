"""Train a model with two inputs."""

import keras
import numpy as np

rng = np.random.default_rng(6)
weather = rng.normal(size=(72, 4)).astype("float32")
calendar = rng.normal(size=(72, 3)).astype("float32")
demand = weather[:, :1] + calendar[:, :1]

first = keras.Input((4,), name="weather")
second = keras.Input((3,), name="calendar")
joined = keras.layers.Concatenate()([first, second])
model = keras.Model([first, second], keras.layers.Dense(1)(joined))
model.compile(optimizer="adam", loss="mse")

table = [weather, calendar]
model.fit(table, demand, epochs=1, verbose=0)
