"""Sort a table before its labels are taken out."""

import io

import keras
import pandas as pd

rows = "\n".join(f"{year},{(year * year) / 1000 - year},{year / 40 - 48}" for year in range(1950, 2020))
houses = pd.read_csv(io.StringIO("year,area,heating\n" + rows))
houses = houses.sort_values("area").reset_index(drop=True)
heating = houses.pop("heating")
scaled = (houses - houses.mean()) / houses.std()

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(scaled.to_numpy("float32"), (heating / 100).to_numpy("float32"), epochs=2, verbose=0)
