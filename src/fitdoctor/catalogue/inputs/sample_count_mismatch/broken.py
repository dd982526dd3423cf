"""Rows with gaps are dropped from the features only."""

import keras
import numpy as np
import pandas as pd

rng = np.random.default_rng(8)
survey = pd.DataFrame(rng.normal(size=(80, 3)), columns=["sleep", "sport", "mood"])
survey.loc[::10, "sport"] = np.nan
mood = survey["mood"].to_numpy()
habits = survey[["sleep", "sport"]].dropna().to_numpy()  # <- FIT108

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(habits, mood, epochs=1, verbose=0)
