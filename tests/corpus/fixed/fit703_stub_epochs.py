import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH = 16


def load_chunks(n=7 * 16):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 9)).astype("float32")
    x[np.arange(n), y] += 2.0
    return x, y


def train(epochs=6):
    x, y = load_chunks()
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).batch(BATCH)
    model = tf.keras.Sequential([
        layers.Input((9,)),
        layers.Dense(16, activation="relu"),
        layers.Dense(3, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model.fit(ds, epochs=epochs, verbose=2)


if __name__ == "__main__":
    train()
