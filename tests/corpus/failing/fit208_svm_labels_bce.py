import numpy as np
import keras
from keras import layers


def two_moons(n=240, noise=0.1):
    rng = np.random.default_rng(0)
    t = rng.random(n) * np.pi
    side = rng.choice([-1, 1], n)           # svmlight convention
    x = np.stack([np.cos(t) * side + 0.5 * (side < 0), np.sin(t) * side], axis=1)
    return (x + rng.normal(0, noise, (n, 2))).astype("float32"), side


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = layers.Dense(16, activation="relu")
        self.h2 = layers.Dense(16, activation="relu")
        self.p = layers.Dense(1, activation="sigmoid")

    def call(self, x):
        return self.p(self.h2(self.h1(x)))


x, side = two_moons()
y = side.astype("float32")  # <- FIT208
net = Net()
net.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.BinaryCrossentropy())
net.fit(x, y, epochs=2, batch_size=24, verbose=2)
