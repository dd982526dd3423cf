import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class VAE(keras.Model):
    def __init__(self, dim, latent, **kwargs):
        super().__init__(**kwargs)
        self.enc = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(2 * latent)])
        self.dec = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(dim)])
        self.total = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.total]

    def elbo(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        rec = tf.reduce_sum(tf.square(x - self.dec(z)), axis=-1)
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)
        return tf.reduce_mean(rec + kl)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.elbo(data)
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total.update_state(loss)
        return {"loss": self.total.result()}

    def test_step(self, data):
        self.total.update_state(self.elbo(data))
        return {"loss": self.total.result()}


x = np.random.default_rng(0).normal(size=(256, 3)) @ np.random.default_rng(1).normal(size=(3, 12))
x = x.astype("float32")
vae = VAE(12, 2)
vae.compile(optimizer=keras.optimizers.Adam())
vae.fit(x[:200], epochs=2, batch_size=20, validation_data=(x[200:], None), verbose=2)
