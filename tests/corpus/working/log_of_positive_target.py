import numpy as np
import pandas as pd
from tensorflow import keras
df = pd.DataFrame({"a": np.random.rand(50), "price": np.random.rand(50) * 100})
df["y"] = np.log1p(df["price"])
df["ratio"] = df["a"] / df["price"].clip(lower=1)
m = keras.Sequential([keras.Input((2,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(df[["a", "ratio"]], df["y"], epochs=1, verbose=0)
