import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.model_selection import train_test_split

NUMERIC = ["height", "weight", "age"]
KINDS = 6


def patients(n=240):
    rng = np.random.default_rng(14)
    df = pd.DataFrame(rng.normal(size=(n, 3)), columns=NUMERIC)
    df["ward"] = rng.integers(0, KINDS, n)
    df["stay"] = df["age"] * 0.5 + df["ward"] * 0.2 + rng.normal(0, 0.1, n)
    return df


def to_inputs(df):
    return {
        "numeric": df[NUMERIC].to_numpy("float32"),
        "ward": df["ward"].to_numpy("int32"),
    }


def build():
    numeric = keras.Input((len(NUMERIC),), name="numeric")
    ward = keras.Input((), name="ward", dtype="int32")
    e = layers.Embedding(KINDS, 3)(ward)
    h = layers.concatenate([numeric, e])
    h = layers.Dense(12, activation="relu")(h)
    return keras.Model({"numeric": numeric, "ward": ward}, layers.Dense(1)(h))


train, valid = train_test_split(patients(), test_size=0.2, random_state=0)
model = build()
model.compile("adam", "mse")
model.fit(to_inputs(train), train["stay"].to_numpy(), epochs=2, verbose=2,
          validation_data=(to_inputs(valid), valid["stay"].to_numpy()))
