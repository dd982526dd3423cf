import keras
import numpy as np
import tensorflow as tf
from keras import layers


class VAE(keras.Model):
    def __init__(self, dim=12, latent=2):
        super().__init__()
        self.enc = layers.Dense(16, activation="relu")
        self.mu = layers.Dense(latent)
        self.log_var = layers.Dense(latent)
        self.dec = keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(dim)])
        self.tracker = keras.metrics.Mean(name="elbo")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        h = self.enc(x)
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
        return self.dec(z), mu, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon, mu, log_var = self(x, training=True)
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - recon), axis=-1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - tf.square(mu) - tf.exp(log_var), axis=-1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"elbo": self.tracker.result()}


rng = np.random.default_rng(3)
x = (rng.normal(size=(200, 2)) @ rng.normal(size=(2, 12))).astype("float32")
vae = VAE()
vae.compile(optimizer="adam")
vae.fit(x, epochs=2, batch_size=20, verbose=2)
