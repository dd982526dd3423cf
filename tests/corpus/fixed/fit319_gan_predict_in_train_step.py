import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class GAN(keras.Model):
    def __init__(self, generator, discriminator, latent_dim):
        super().__init__()
        self.generator = generator
        self.discriminator = discriminator
        self.latent_dim = latent_dim
        self.d_metric = keras.metrics.Mean(name="d_loss")
        self.g_metric = keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.loss_fn = loss_fn

    @property
    def metrics(self):
        return [self.d_metric, self.g_metric]

    def train_step(self, real):
        batch = tf.shape(real)[0]
        noise = tf.random.normal((batch, self.latent_dim))
        fake = self.generator(noise, training=True)
        combined = tf.concat([real, fake], axis=0)
        labels = tf.concat([tf.ones((batch, 1)), tf.zeros((batch, 1))], axis=0)
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(combined))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))

        noise = tf.random.normal((batch, self.latent_dim))
        with tf.GradientTape() as tape:
            g_loss = self.loss_fn(tf.ones((batch, 1)), self.discriminator(self.generator(noise)))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_metric.update_state(d_loss)
        self.g_metric.update_state(g_loss)
        return {"d_loss": self.d_metric.result(), "g_loss": self.g_metric.result()}


generator = keras.Sequential([keras.Input((4,)), layers.Dense(16, activation="relu"), layers.Dense(2)])
discriminator = keras.Sequential([keras.Input((2,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
ring = np.random.default_rng(0).uniform(0, 2 * np.pi, 256)
data = np.stack([np.cos(ring), np.sin(ring)], axis=1).astype("float32")

gan = GAN(generator, discriminator, 4)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True))
gan.fit(data, batch_size=32, epochs=1, verbose=2)
