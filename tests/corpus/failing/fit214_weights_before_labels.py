import numpy as np
import pandas as pd
import tensorflow as tf


def loans(n=256):
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"income": rng.normal(size=n), "debt": rng.normal(size=n)})
    table["default"] = (table.debt > table.income).astype(int)
    table["exposure"] = rng.uniform(0.5, 3.0, n)
    return table


def to_dataset(table, batch=32):
    x = table[["income", "debt"]].to_numpy("float32")
    y = table["default"].to_numpy("float32")
    w = table["exposure"].to_numpy("float32")
    return tf.data.Dataset.from_tensor_slices((x, w, y)).shuffle(256, seed=0).batch(batch)  # <- FIT214


model = tf.keras.Sequential(
    [
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(to_dataset(loans()), epochs=2, verbose=0)
