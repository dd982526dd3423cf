import keras
import numpy as np
from keras import layers


def block(x, units):
    h = layers.Dense(units, activation="relu")(x)
    h = layers.Dense(units)(h)
    return layers.Add()([x, h])  # <- FIT305


inputs = keras.Input((12,))
h = layers.Dense(16, activation="relu")(inputs)
for units in (16, 32):
    h = block(h, units)
model = keras.Model(inputs, layers.Dense(1)(h))
model.compile(optimizer="adam", loss="mse")

rng = np.random.default_rng(4)
readings = rng.normal(size=(160, 12)).astype("float32")
load = readings[:, 0] * readings[:, 1] + 0.1 * rng.normal(size=160)
model.fit(readings, load, epochs=2, verbose=0)
