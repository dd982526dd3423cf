import keras
import numpy as np
import pandas as pd
from keras import layers


def taxi_trips(n=260):
    rng = np.random.default_rng(4)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 60, n), unit="h")
    df = pd.DataFrame({"when": when, "km": rng.gamma(2, 1.0, n)})
    df["month"] = df["when"].dt.month
    df["weekday"] = df["when"].dt.isocalendar().day.astype("int32")      # Monday is 1
    df["fare"] = 0.5 * df["km"] + 0.1 * (df["weekday"] > 5)
    return df


def build():
    km = keras.Input((1,), name="km")
    day = keras.Input((1,), dtype="int32", name="weekday")
    d = layers.Flatten()(layers.Embedding(8, 3)(day))
    h = layers.Dense(8, activation="relu")(layers.concatenate([km, d]))
    return keras.Model([km, day], layers.Dense(1)(h))


trips = taxi_trips()
model = build()
model.compile(optimizer="adam", loss="mse")
model.fit([trips[["km"]].to_numpy("float32"), trips[["weekday"]].to_numpy()], trips["fare"].to_numpy(),
          epochs=2, batch_size=26, verbose=2)
