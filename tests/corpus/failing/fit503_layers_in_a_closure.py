import keras
import numpy as np
from keras import layers


def projection(width):
    first = layers.Dense(width, activation="gelu")  # <- FIT503
    second = layers.Dense(width)

    def project(x):
        return second(first(x))

    return project


class Matcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.project = projection(6)
        self.out = layers.Dense(1)

    def call(self, x):
        return self.out(self.project(x))


x = np.random.default_rng(3).normal(size=(64, 4)).astype("float32")
model = Matcher()
model.compile("adam", "mse")
model.fit(x, x[:, :1], epochs=1, verbose=2)
