import numpy as np
import pandas as pd
from tensorflow import keras
from tensorflow.keras import layers


def make_model(columns):
    inputs = {c: keras.Input((1,), name=c) for c in columns}
    merged = layers.Concatenate()([inputs[c] for c in columns])
    h = layers.Dense(12, activation="relu")(merged)
    return keras.Model(inputs, layers.Dense(1)(h))


def frame_to_dict(df):
    return {name: df[[name]].to_numpy("float32") for name in df.columns}


rng = np.random.default_rng(0)
n = 240
df = pd.DataFrame({
    "account": rng.permutation(n) / n,
    "clicks": rng.normal(size=n),
    "dwell": rng.normal(size=n),
    "hour": rng.random(n),
})
df["spend"] = 0.8 * df["clicks"] - 0.3 * df["dwell"] + 0.2 * df["hour"]

target = df.pop("spend").to_numpy("float32")
df = df.drop(columns="account")
model = make_model(["clicks", "dwell", "hour"])
model.compile(optimizer="adam", loss="mse")
model.fit(frame_to_dict(df), target, epochs=2, batch_size=24, verbose=2)
