import keras
import numpy as np
import tensorflow as tf
from keras import layers


def bucketed(scores):
    return tf.nn.softmax(scores)


class Routed(keras.Model):
    def __init__(self):
        super().__init__()
        self.front = keras.Sequential([layers.Dense(6, activation="tanh"), layers.Dense(4)], name="front")
        self.table = layers.Dense(3)
        self.tail = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)], name="tail")

    def call(self, x):
        for stage in (self.front, bucketed, self.table, self.tail):
            x = stage(x)
        return x


rng = np.random.default_rng(47)
x = rng.normal(size=(128, 6)).astype("float32")
y = rng.normal(size=(128, 1)).astype("float32")
model = Routed()
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=2)
