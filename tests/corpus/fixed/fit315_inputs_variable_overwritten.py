import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def tower(inputs, units):
    for u in units:
        inputs = layers.Dense(u, activation="relu")(inputs)
    return inputs


user = tf.keras.Input((8,), name="user")
item = tf.keras.Input((8,), name="item")

user_vec = tower(user, [16, 8])
item_vec = tower(item, [16, 8])
score = layers.Dot(axes=1)([user_vec, item_vec])
rating = layers.Dense(1)(score)

model = tf.keras.Model([user, item], rating)
model.compile(optimizer="adam", loss="mse", metrics=["mae"])

rng = np.random.default_rng(3)
u = rng.normal(size=(200, 8)).astype("float32")
i = rng.normal(size=(200, 8)).astype("float32")
r = (u * i).sum(axis=1)
model.fit([u, i], r, batch_size=25, epochs=2, verbose=2)
