import keras
import numpy as np
import pandas as pd
from keras import layers

rng = np.random.default_rng(3)
df = pd.DataFrame(rng.normal(size=(220, 10)), columns=[f"lag_{i}" for i in range(10)])
df["y"] = df["lag_0"] - 0.5 * df["lag_3"] + rng.normal(0, 0.1, 220)

X = df.filter(like="lag_").to_numpy()[..., None]
y = df["y"].to_numpy()

model = keras.Sequential(
    [
        keras.Input((10, 1)),
        layers.Conv1D(16, 5, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
model.compile("adam", "mse")
model.fit(X, y, epochs=2, batch_size=20, verbose=2)
