import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class MyNet(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.hidden1 = layers.Dense(units, activation="relu")
        self.hidden2 = layers.Dense(units // 2, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        x = self.hidden1(inputs)
        x = self.hidden2(x)
        return self.out(x)


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 7)).astype("float32")
y = x[:, 0] * x[:, 1]
model = MyNet(32)
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=2)
