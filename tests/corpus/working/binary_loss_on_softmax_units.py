"""Two softmax units, where both crossentropies are equal, and several labels per sample."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6)).astype("float32")
sick = (x[:, 0] > 0).astype("int64")
tags = (x[:, :4] > 0.5).astype("float32")


def classifier(units, activation):
    model = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(16, activation="relu"),
            layers.Dense(units, activation=activation),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return model


classifier(2, "softmax").fit(x, keras.utils.to_categorical(sick, 2), epochs=2, verbose=0)
classifier(4, "sigmoid").fit(x, tags, epochs=2, verbose=0)
