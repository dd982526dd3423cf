import numpy as np
import pandas as pd
from tensorflow import keras
df = pd.DataFrame({"a": np.random.rand(90), "b": np.random.rand(90), "kind": np.random.choice(["x", "y", "z"], 90)})
y = df["kind"].astype("category").cat.codes
X = df[["a", "b"]].values
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(X, y.values, verbose=0)
