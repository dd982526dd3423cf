import numpy as np
import pandas as pd
from tensorflow import keras

df = pd.DataFrame({"p": np.cumsum(np.random.randn(300)) + 100})
df["ma"] = df["p"].rolling(10).mean()
df["ret"] = df["p"].pct_change()
df["target"] = df["p"].shift(-1)
df = df.dropna()
X = df[["p", "ma", "ret"]].to_numpy("float32") / 100
y = df["target"].to_numpy("float32") / 100
m = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
m.compile("adam", "mse", metrics=["mae"])
m.fit(X, y, epochs=1, verbose=0)
