import keras
import numpy as np
from keras import layers


class Encoder:  # <- FIT503
    def __init__(self, width, code):
        self.hidden = layers.Dense(width, activation="relu")
        self.code = layers.Dense(code)

    def __call__(self, x):
        return self.code(self.hidden(x))


class Autoencoder(keras.Model):
    def __init__(self, dim):
        super().__init__()
        self.encoder = Encoder(16, 3)  # <~ FIT503
        self.decoder = layers.Dense(dim)

    def call(self, x):
        return self.decoder(self.encoder(x))


def main():
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(256, 3)) @ rng.normal(size=(3, 8))).astype("float32")
    auto = Autoencoder(8)
    auto.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    auto.fit(x, x, epochs=3, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
