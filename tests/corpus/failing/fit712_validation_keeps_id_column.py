import io

import numpy as np
import pandas as pd
from keras import Input, Model
from keras.layers import Dense


def csv_text(n, seed):
    rng = np.random.default_rng(seed)
    buf = io.StringIO()
    df = pd.DataFrame(rng.normal(size=(n, 5)), columns=["v1", "v2", "v3", "v4", "v5"])
    df["label"] = (df["v1"] + df["v4"] > 0).astype(int)
    df.insert(0, "id", np.linspace(0, 1, n))
    df.to_csv(buf, index=False)
    buf.seek(0)
    return buf


def load_train():
    df = pd.read_csv(csv_text(200, 0))
    return df.drop(columns=["id", "label"]).to_numpy(), df["label"].to_numpy()


def load_valid():
    df = pd.read_csv(csv_text(60, 1))
    return df.drop(columns=["label"]).to_numpy(), df["label"].to_numpy()  # <- FIT712


x, y = load_train()
inp = Input((x.shape[1],))
model = Model(inp, Dense(1, activation="sigmoid")(Dense(12, activation="relu")(inp)))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=20, epochs=2, validation_data=load_valid(), verbose=2)
