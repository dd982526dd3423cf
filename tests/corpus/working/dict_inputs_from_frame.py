import numpy as np
import pandas as pd
import keras
from keras import layers

NUMERIC = ["age", "income"]
CATS = {"city": 12, "job": 7}


def frame(n=240):
    rng = np.random.default_rng(0)
    df = pd.DataFrame({c: rng.normal(size=n) for c in NUMERIC})
    for c, k in CATS.items():
        df[c] = rng.integers(0, k, n)
    df["buys"] = ((df["income"] > 0) ^ (df["job"] > 4)).astype(int)
    return df


def to_dict(df):
    d = {"numeric": df[NUMERIC].to_numpy("float32")}
    d.update({c: df[c].to_numpy() for c in CATS})
    return d


inputs = {"numeric": keras.Input((2,), name="numeric")}
inputs.update({c: keras.Input((), dtype="int32", name=c) for c in CATS})
parts = [inputs["numeric"]] + [layers.Embedding(k, 3)(inputs[c]) for c, k in CATS.items()]
h = layers.Dense(12, activation="relu")(layers.concatenate(parts))
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])

df = frame()
model.fit(to_dict(df[:180]), df["buys"][:180], validation_data=(to_dict(df[180:]), df["buys"][180:]), epochs=2, verbose=2)
