import keras
import numpy as np
from keras import layers


class AutoencoderFactory:
    def __init__(self, width, latent):
        self.width = width
        self.latent = latent

    def make(self):
        enc_in = keras.Input((self.width,), name="enc_in")
        h = layers.Dense(12, activation="relu")(enc_in)
        z = layers.Dense(self.latent, name="z")(h)
        encoder = keras.Model(enc_in, z)

        dec_in = keras.Input((self.latent,), name="dec_in")
        h = layers.Dense(12, activation="relu")(dec_in)
        rec = layers.Dense(self.width)(h)
        decoder = keras.Model(dec_in, rec)

        full = keras.Model(enc_in, decoder(encoder(enc_in)), name="autoencoder")
        return encoder, decoder, full


rng = np.random.default_rng(20)
x = (rng.normal(size=(200, 3)) @ rng.normal(size=(3, 10))).astype("float32")
encoder, decoder, auto = AutoencoderFactory(10, 3).make()
auto.compile("adam", "mse")
auto.fit(x, x, epochs=2, batch_size=20, verbose=2)
