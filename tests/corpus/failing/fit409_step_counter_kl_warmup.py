import numpy as np
import tensorflow as tf
from tensorflow import keras


class BetaVAE(keras.Model):
    def __init__(self, dim, latent=2, warmup=50):
        super().__init__()
        self.enc = keras.layers.Dense(2 * latent)
        self.dec = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(dim)])
        self.warmup = warmup
        self.step = 0  # <~ FIT409
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, x):
        self.step += 1  # <- FIT409
        beta = min(1.0, self.step / self.warmup)
        with tf.GradientTape() as tape:
            mu, logvar = tf.split(self.enc(x), 2, axis=-1)
            z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - self.dec(z)), axis=-1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mu ** 2 - tf.exp(logvar), axis=-1))
            loss = rec + beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


rng = np.random.default_rng(6)
x = (rng.normal(size=(320, 2)) @ rng.normal(size=(2, 8))).astype("float32")
vae = BetaVAE(8)
vae.compile(optimizer="adam")
vae.fit(x, epochs=3, batch_size=32, verbose=2)
