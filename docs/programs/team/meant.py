import keras
import numpy as np

x = np.loadtxt("rows.csv", delimiter=",")
y = np.loadtxt("targets.csv")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
# --8<-- [start:shown]
# How well does it memorize? The same rows on purpose.
model.fit(x, y, validation_data=(x, y), verbose=0)  # fitdoctor: ignore[FIT003]
# --8<-- [end:shown]
