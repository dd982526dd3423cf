"""Train a model built from a dict of inputs."""

import keras
import numpy as np

rng = np.random.default_rng(9)
height = rng.normal(size=(64, 1)).astype("float32")
weight = rng.normal(size=(64, 1)).astype("float32")
patients = {
    "height": height,
    "weight": weight,
}
risk = 0.3 * height + 0.7 * weight

inputs = {name: keras.Input((1,), name=name) for name in ("height", "weight")}
joined = keras.layers.Concatenate()([inputs["height"], inputs["weight"]])
model = keras.Model(inputs, keras.layers.Dense(1)(joined))
model.compile(optimizer="adam", loss="mse")
model.fit(patients, risk, epochs=1, verbose=0)
