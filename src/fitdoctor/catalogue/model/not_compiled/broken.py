"""A churn model, from layers to training."""

import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(4)
features = rng.normal(size=(120, 6)).astype("float32")
churned = rng.integers(0, 2, size=120)

model = keras.Sequential(
    [keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
model.fit(features, churned, epochs=2, verbose=0)  # <- FIT301
