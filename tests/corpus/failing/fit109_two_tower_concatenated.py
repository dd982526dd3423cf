import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def build_two_tower(user_dim, item_dim):
    user = layers.Input((user_dim,), name="user")
    item = layers.Input((item_dim,), name="item")
    u = layers.Dense(8, activation="relu")(user)
    v = layers.Dense(8, activation="relu")(item)
    score = layers.Dense(1, activation="sigmoid")(layers.Concatenate()([u, v]))
    return tf.keras.Model([user, item], score)


def interactions(n):
    rng = np.random.default_rng(0)
    users = rng.normal(size=(n, 5)).astype("float32")
    items = rng.normal(size=(n, 7)).astype("float32")
    clicked = (users[:, 0] * items[:, 0] > 0).astype("float32")
    return users, items, clicked


users, items, clicked = interactions(220)
model = build_two_tower(users.shape[1], items.shape[1])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

features = np.hstack([users, items])  # <- FIT109
model.fit(features, clicked, epochs=2, batch_size=22, verbose=2)  # <~ FIT109
