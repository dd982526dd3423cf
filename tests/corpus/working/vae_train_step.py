import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class VAE(keras.Model):
    def __init__(self, dim, latent, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(2 * latent)])
        self.decoder = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(dim)])
        self.total_tracker = keras.metrics.Mean(name="loss")
        self.kl_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_tracker, self.kl_tracker]

    def call(self, x):
        mean, _ = tf.split(self.encoder(x), 2, axis=-1)
        return self.decoder(mean)

    def _step(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - self.decoder(z)), axis=1))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1))
        self.total_tracker.update_state(rec + kl)
        self.kl_tracker.update_state(kl)
        return rec + kl

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self._step(data)
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        self._step(data)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(0)
x = (rng.normal(size=(240, 2)) @ rng.normal(size=(2, 8))).astype("float32")
vae = VAE(8, 2)
vae.compile(optimizer=keras.optimizers.Adam(1e-3))
vae.fit(x[:200], epochs=2, batch_size=20, validation_data=(x[200:],), verbose=2)
