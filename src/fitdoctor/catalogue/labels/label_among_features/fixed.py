"""Predict the price of a house from its area and age."""

import numpy as np
import pandas as pd
from tensorflow import keras

rng = np.random.default_rng(3)
houses = pd.DataFrame({"area": rng.uniform(0.4, 2.0, 160), "age": rng.uniform(0.0, 1.0, 160)})
houses["price"] = 1.5 * houses["area"] - 0.3 * houses["age"] + rng.normal(0.0, 0.1, 160)

prices = houses["price"].to_numpy("float32")
features = houses.drop(columns="price").to_numpy("float32")

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(features, prices, epochs=2, validation_split=0.25, verbose=0)
