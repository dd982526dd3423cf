import keras
import numpy as np

x = np.random.default_rng(0).random((100, 3))
y = x.sum(axis=1)
linear = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
deep = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
# --8<-- [start:shown]
linear.compile(optimizer="adam", loss="mse", metrics=["accuracy"])  # fitdoctor: ignore[FIT218]

# fitdoctor: ignore[metric-does-not-fit]
deep.compile(optimizer="adam", loss="mse", metrics=["accuracy"])
# --8<-- [end:shown]
linear.fit(x, y, verbose=0)
deep.fit(x, y, verbose=0)
