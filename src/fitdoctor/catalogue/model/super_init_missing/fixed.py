import keras
import numpy as np
from keras import layers


class Autoencoder(keras.Model):
    def __init__(self, width, code, **kwargs):
        super().__init__(**kwargs)
        self.encoder = layers.Dense(code, activation="relu")
        self.decoder = layers.Dense(width)

    def call(self, inputs):
        return self.decoder(self.encoder(inputs))


signals = np.random.default_rng(1).normal(size=(120, 10)).astype("float32")
model = Autoencoder(10, 3, name="compressor")
model.compile(optimizer="adam", loss="mse")
model.fit(signals, signals, epochs=2, verbose=0)
