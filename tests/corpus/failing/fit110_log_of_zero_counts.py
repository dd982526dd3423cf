import numpy as np
import pandas as pd
import tensorflow as tf


def web_traffic(n=256):
    rng = np.random.default_rng(77)
    df = pd.DataFrame({
        "visits": rng.poisson(3.0, n),
        "pages": rng.uniform(1, 5, n),
        "bounce": rng.uniform(0, 1, n),
    })
    df["revenue"] = 0.4 * np.sqrt(df["visits"]) + 0.1 * df["pages"] - 0.3 * df["bounce"]
    return df


def engineer(df):
    out = pd.DataFrame()
    out["log_visits"] = np.log(df["visits"])  # <- FIT110
    out["pages"] = df["pages"] / 5.0
    out["bounce"] = df["bounce"]
    return out


df = web_traffic()
X = engineer(df).to_numpy(dtype="float32")
y = df["revenue"].to_numpy(dtype="float32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((3,)),
    tf.keras.layers.Dense(16, activation="tanh"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
history = model.fit(X, y, epochs=2, batch_size=32, verbose=2)
print(history.history)
