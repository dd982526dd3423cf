import numpy as np
import tensorflow as tf
from tensorflow import keras


def build_model():
    inputs = keras.Input((5,))
    h = keras.layers.Dense(16, activation="relu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(h))


class Predictor:
    """A model per worker, each in its own graph as in the old days."""

    def __init__(self):
        self.model = build_model()
        self.model.compile(optimizer="adam", loss="binary_crossentropy")

    def train(self, x, y):
        self.model.fit(x, y, epochs=2, batch_size=25, verbose=0)

    def score(self, x):
        return self.model.predict(x, verbose=0)


rng = np.random.default_rng(9)
x = rng.normal(size=(150, 5)).astype("float32")
y = (x.sum(axis=1) > 0).astype("float32")
p = Predictor()
p.train(x, y)
print(p.score(x[:3]))
