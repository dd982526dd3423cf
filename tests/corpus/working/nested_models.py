import keras
import numpy as np
from keras import layers


def block(name, n_in, n_out):
    inputs = keras.Input((n_in,))
    return keras.Model(inputs, layers.Dense(n_out, activation="relu")(inputs), name=name)


class Outer(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = block("first", 4, 8)
        self.second = keras.Sequential([self.first, block("second", 8, 8)])
        self.head = layers.Dense(1)

    def call(self, x):
        # first is used alone and inside second: the weights are shared
        return self.head(self.second(x) + self.first(x))


rng = np.random.default_rng(0)
x = rng.normal(size=(120, 4)).astype("float32")
model = Outer()
model.compile("adam", "mse")
model.fit(x, np.maximum(x, 0).sum(axis=1), epochs=2, verbose=2)
print(len(model.trainable_weights))
