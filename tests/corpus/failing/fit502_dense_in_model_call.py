import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class MyNet(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.out = layers.Dense(1)

    def call(self, inputs):
        x = layers.Dense(self.units, activation="relu")(inputs)  # <- FIT502
        x = layers.Dense(self.units // 2, activation="relu")(x)  # <~ FIT502
        return self.out(x)


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 7)).astype("float32")
y = x[:, 0] * x[:, 1]
model = MyNet(32)
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=2)
