import keras
import numpy as np
from keras import layers


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = layers.Dense(32, activation="relu")
        self.drop = layers.Dropout(0.1)
        self.out = layers.Dense(1)

    def call(self, inputs, training=False):
        x = self.d1(inputs)
        x = self.drop(x, training=training)
        return self.out(x)


def get_data():
    rng = np.random.default_rng(17)
    x = rng.uniform(-1, 1, (250, 3)).astype("float32")
    y = np.prod(x, axis=1, keepdims=True) + x.sum(axis=1, keepdims=True)
    return x, y


x, y = get_data()
model = Regressor()
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, batch_size=25, epochs=2, verbose=2)
