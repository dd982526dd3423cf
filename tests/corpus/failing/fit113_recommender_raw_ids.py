import numpy as np
import pandas as pd
import tensorflow as tf


def ratings_frame(n=400):
    rng = np.random.default_rng(0)
    users = rng.choice(np.arange(1, 2000), 50, replace=False)     # ids are not contiguous
    items = rng.choice(np.arange(1, 900), 30, replace=False)
    df = pd.DataFrame({"user": rng.choice(users, n), "item": rng.choice(items, n)})
    df["rating"] = ((df["user"] % 5) + (df["item"] % 3)) / 6.0
    return df


class MatrixFactorization(tf.keras.Model):
    def __init__(self, n_users, n_items, dim=6):
        super().__init__()
        self.users = tf.keras.layers.Embedding(n_users, dim)
        self.items = tf.keras.layers.Embedding(n_items, dim)
        self.head = tf.keras.layers.Dense(1)

    def call(self, pair):
        u = self.users(pair[:, 0])
        v = self.items(pair[:, 1])
        return self.head(u * v)


df = ratings_frame()
n_users, n_items = df["user"].nunique(), df["item"].nunique()  # <~ FIT113
pairs = df[["user", "item"]].to_numpy()  # <- FIT113

model = MatrixFactorization(n_users, n_items)  # <~ FIT113
model.compile(optimizer="adam", loss="mse")
model.fit(pairs, df["rating"].to_numpy("float32"), epochs=2, batch_size=40, verbose=2)
