import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def pairs(n=180):
    rng = np.random.default_rng(6)
    left = rng.normal(size=(n, 6)).astype("float32")
    right = rng.normal(size=(n, 6)).astype("float32")
    same = (np.sum(left * right, axis=1) > 0).astype("float32")
    return left, right, same


def make_dataset(batch=18):
    left, right, same = pairs()
    ds = tf.data.Dataset.from_tensor_slices(((left, right), same))
    return ds.shuffle(len(same)).batch(batch)


def siamese():
    a, b = layers.Input((6,), name="left"), layers.Input((6,), name="right")
    tower = tf.keras.Sequential([layers.Input((6,)), layers.Dense(12, activation="relu"), layers.Dense(6)])
    sim = layers.Multiply()([tower(a), tower(b)])
    return tf.keras.Model([a, b], layers.Dense(1, activation="sigmoid")(sim))


model = siamese()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(make_dataset(), epochs=2, verbose=2)
