import keras
import numpy as np


class Forecaster(keras.Model):
    def __init__(self, units=8):
        super().__init__()
        self.body = keras.layers.Dense(units, activation="relu")
        self.flat = keras.layers.Flatten()
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.flat(self.body(x)))

    def functional(self, shape):
        inputs = keras.Input(shape=shape)
        return keras.Model(inputs, self.call(inputs))


rng = np.random.default_rng(43)
x = rng.normal(size=(160, 12, 4)).astype("float32")
y = rng.normal(size=(160, 1)).astype("float32")
first_rows = x[0:16]
model = Forecaster().functional(first_rows.shape[1:])
model.compile("adam", "mse")
model.fit(x, y, epochs=1, verbose=2)
