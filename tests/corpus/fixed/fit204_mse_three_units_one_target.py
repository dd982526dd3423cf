import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from tensorflow.keras import layers, models

rng = np.random.default_rng(0)
n = 256
energy = pd.DataFrame({
    "area": rng.uniform(50, 200, n),
    "height": rng.uniform(2, 4, n),
    "glass": rng.uniform(0, 1, n),
})
energy["heating"] = 0.02 * energy["area"] - 1.5 * energy["glass"] + rng.normal(0, 0.1, n)

X = StandardScaler().fit_transform(energy[["area", "height", "glass"]])
Y = StandardScaler().fit_transform(energy[["heating"]])

model = models.Sequential([
    layers.Input((3,)),
    layers.Dense(16, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(X, Y, epochs=2, batch_size=32, validation_split=0.2, verbose=2)
