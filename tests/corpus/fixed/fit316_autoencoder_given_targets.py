"""An autoencoder whose step takes x out of the batch, and fit is given x as its own target."""

import numpy as np
import tensorflow as tf


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4)]
        )
        self.decoder = tf.keras.Sequential(
            [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(10, activation="sigmoid")]
        )
        self.tracker = tf.keras.metrics.Mean(name="loss")

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            mean, variance = tf.split(self.encoder(x), 2, axis=1)
            z = mean + tf.exp(variance / 2) * tf.random.normal(tf.shape(mean))
            missed = tf.reduce_mean(tf.keras.losses.binary_crossentropy(x, self.decoder(z)))
            loss = missed - 0.5 * tf.reduce_mean(1 + variance - mean**2 - tf.exp(variance))
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


pictures = np.random.rand(100, 10).astype("float32")
vae = VAE()
vae.compile(optimizer="adam")
vae.fit(pictures, pictures, epochs=1, batch_size=20, verbose=0)
