import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

keras.utils.set_random_seed(0)
rows = np.random.default_rng(0)
frame = pd.DataFrame({"area": rows.uniform(900, 2500, 200), "rooms": rows.integers(1, 9, 200)})
frame["price"] = frame["area"] / 1000 + frame["rooms"] / 10
known, unseen = frame.iloc[:150].copy(), frame.iloc[150:].copy()
scaler = StandardScaler()
known[["area", "rooms"]] = scaler.fit_transform(known[["area", "rooms"]])
unseen[["area", "rooms"]] = scaler.transform(unseen[["area", "rooms"]])

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(
    known[["area", "rooms"]].to_numpy(),
    known["price"].to_numpy(),
    epochs=2,
    validation_data=(unseen[["area", "rooms"]].to_numpy(), unseen["price"].to_numpy()),
)
