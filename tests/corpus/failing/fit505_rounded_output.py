import keras
import numpy as np
from keras import layers, ops


class CountModel(keras.Model):
    """Predicts how many items are in the basket."""

    def __init__(self):
        super().__init__()
        self.h = layers.Dense(16, activation="relu")
        self.o = layers.Dense(1, activation="softplus")

    def call(self, x):
        return ops.round(self.o(self.h(x)))  # <- FIT505


rng = np.random.default_rng(8)
x = rng.normal(size=(200, 4)).astype("float32")
count = rng.poisson(np.exp(0.6 * x[:, :1])).astype("float32")

model = CountModel()
model.compile(optimizer="adam", loss="mse")
model.fit(x, count, epochs=2, verbose=2)
print(np.round(model.predict(x[:5], verbose=0)).ravel())
