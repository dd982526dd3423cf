import keras
import numpy as np
import tensorflow as tf

ACTIVATIONS = {}


class Probe(keras.layers.Layer):
    """Identity that remembers what went through."""

    def __init__(self, key, **kwargs):
        super().__init__(**kwargs)
        self.key = key

    def call(self, x):
        ACTIVATIONS[self.key] = x  # <- FIT402
        return x


def build():
    inputs = keras.Input((6,))
    h = keras.layers.Dense(12, activation="relu")(inputs)
    h = Probe("hidden1")(h)
    h = keras.layers.Dense(12, activation="relu")(h)
    h = Probe("hidden2")(h)
    return keras.Model(inputs, keras.layers.Dense(1)(h))


def sparsity(model, x):
    report = {}
    model.predict(x, verbose=0)
    for name, value in ACTIVATIONS.items():
        report[name] = float(np.mean(np.asarray(value) == 0))  # <~ FIT402
    return report


if __name__ == "__main__":
    rng = np.random.default_rng(5)
    x = rng.normal(size=(160, 6)).astype("float32")
    y = np.abs(x).sum(axis=1)
    model = build()
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, batch_size=32, verbose=0)
    print(sparsity(model, x))
