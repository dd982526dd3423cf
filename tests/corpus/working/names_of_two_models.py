"""The same names in two models, a layer used twice, and numbered names."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(3)
x = rng.normal(size=(64, 6)).astype("float32")
y = x[:, :1]


def build(width):
    inputs = keras.Input((6,), name="inputs")
    shared = layers.Dense(6, activation="relu", name="hidden")
    out = shared(shared(inputs))
    for number in range(2):
        out = layers.Dense(width, name=f"step_{number}")(out)
    return keras.Model(inputs, layers.Dense(1, name="out")(out), name="net")


small, large = build(4), build(8)
branch = keras.Sequential([keras.Input((6,)), layers.Dense(3, name="hidden"), layers.Dense(1, name="out")])
both = keras.Input((6,))
joined = keras.Model(both, layers.Average()([branch(both), layers.Dense(1, name="hidden")(both)]))
for model in (small, large, branch, joined):
    model.compile("adam", "mse")
    model.fit(x, y, epochs=1, verbose=0)
