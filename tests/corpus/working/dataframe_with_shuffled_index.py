import numpy as np
import pandas as pd
from tensorflow import keras
from tensorflow.keras import layers


def load_houses(n=220):
    rng = np.random.default_rng(6)
    df = pd.DataFrame({"rooms": rng.integers(1, 7, n), "age": rng.uniform(0, 90, n), "dist": rng.gamma(2, 3, n)})
    df["price"] = 0.4 * df["rooms"] - 0.01 * df["age"] - 0.05 * df["dist"]
    return df


df = load_houses().sample(frac=1.0, random_state=3)      # rows and index shuffled together
target = df.pop("price")
features = (df - df.mean()) / df.std()

model = keras.Sequential([layers.Input((3,)), layers.Dense(12, activation="relu"), layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(features, target, epochs=2, batch_size=20, validation_split=0.2, verbose=2)
