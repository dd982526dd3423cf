"""A fifth of the patients is to be kept for validation."""

import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(21)
patients = pd.DataFrame({"age": rng.integers(20, 90, 150), "pressure": rng.normal(120, 15, 150)})
patients["risk"] = (patients["age"] * patients["pressure"] > 6600).astype(int)
VALIDATION = 20


def network():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Input(shape=(2,)))
    model.add(tf.keras.layers.Normalization())
    model.add(tf.keras.layers.Dense(8, activation="relu"))
    model.add(tf.keras.layers.Dense(1, activation="sigmoid"))
    model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
    return model


model = network()
features, risk = patients[["age", "pressure"]].to_numpy("float32"), patients["risk"].to_numpy()
model.layers[0].adapt(features)
model.fit(features, risk, epochs=3, validation_split=VALIDATION, verbose=0)  # <- FIT114
