import keras
import numpy as np
from keras import layers


class CTRModel:
    def __init__(self, fields):
        self.inputs = {f: keras.Input((1,), name=f) for f in fields}
        merged = layers.concatenate(list(self.inputs.values()))
        h = layers.Dense(16, activation="relu")(merged)
        out = layers.Dense(1, activation="sigmoid")(h)
        self.net = keras.Model(self.inputs, out)
        self.net.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

    def fit(self, features, click, **kw):
        return self.net.fit(features, click, **kw)


def log_rows(n=240):
    rng = np.random.default_rng(8)
    row = {name: rng.normal(size=(n, 1)).astype("float32") for name in ("bid", "position", "relevance")}
    click = (row["relevance"][:, 0] - 0.5 * row["position"][:, 0] > 0).astype("float32")
    return row, click


rows, click = log_rows()
rows["log_bid"] = np.sign(rows["bid"]) * np.log1p(np.abs(rows["bid"]))  # <- FIT116
model = CTRModel(["bid", "position", "relevance"])  # <~ FIT116
model.fit(rows, click, epochs=2, batch_size=24, verbose=2)
