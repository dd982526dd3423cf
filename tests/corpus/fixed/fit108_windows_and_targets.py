import numpy as np
import pandas as pd
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import GRU, Dense

WINDOW = 7


def daily_sales(days=200):
    idx = pd.date_range("2023-01-01", periods=days, freq="D")
    rng = np.random.default_rng(0)
    week = np.sin(2 * np.pi * idx.dayofweek.to_numpy() / 7)
    return pd.DataFrame({"sales": week + rng.normal(0, 0.1, days)}, index=idx)


def sliding(values, window):
    return np.stack([values[i:i + window] for i in range(len(values) - window)])


df = daily_sales()
values = df[["sales"]].to_numpy("float32")
X = sliding(values, WINDOW)
y = df["sales"].to_numpy("float32")[WINDOW:]

inp = Input(shape=(WINDOW, 1))
model = Model(inp, Dense(1)(GRU(12)(inp)))
model.compile("adam", "mse")
print(X.shape, y.shape)
model.fit(X, y, epochs=2, batch_size=16, verbose=2)
