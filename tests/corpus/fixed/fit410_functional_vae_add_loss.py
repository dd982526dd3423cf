import keras
import numpy as np
from keras import layers, ops

latent_dim, original_dim = 2, 10


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed = keras.random.SeedGenerator(7)

    def call(self, inputs):
        mean, log_var = inputs
        kl = -0.5 * ops.mean(ops.sum(1 + log_var - ops.square(mean) - ops.exp(log_var), axis=-1))
        self.add_loss(0.1 * kl)
        return mean + ops.exp(0.5 * log_var) * keras.random.normal(ops.shape(mean), seed=self.seed)


inputs = keras.Input((original_dim,))
h = layers.Dense(16, activation="relu")(inputs)
z_mean = layers.Dense(latent_dim)(h)
z_log_var = layers.Dense(latent_dim)(h)
z = Sampling()([z_mean, z_log_var])
h = layers.Dense(16, activation="relu")(z)
outputs = layers.Dense(original_dim)(h)
vae = keras.Model(inputs, outputs)

vae.compile(optimizer="adam", loss="mse")

rng = np.random.default_rng(0)
x = (rng.normal(size=(256, 2)) @ rng.normal(size=(2, original_dim))).astype("float32")
vae.fit(x, x, epochs=2, batch_size=32, verbose=2)
