import keras
import numpy as np
import tensorflow as tf
from keras import layers


class GAN(keras.Model):
    def __init__(self, generator, discriminator, latent_dim):
        super().__init__()
        self.generator, self.discriminator, self.latent_dim = generator, discriminator, latent_dim
        self.d_loss_metric = keras.metrics.Mean(name="d_loss")
        self.g_loss_metric = keras.metrics.Mean(name="g_loss")

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn

    @property
    def metrics(self):
        return [self.d_loss_metric, self.g_loss_metric]

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((n, self.latent_dim)))
        mixed = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(mixed))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))

        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal((n, self.latent_dim)))
            g_loss = self.loss_fn(tf.zeros((n, 1)), self.discriminator(fake))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_loss_metric.update_state(d_loss)
        self.g_loss_metric.update_state(g_loss)
        return {"d_loss": self.d_loss_metric.result(), "g_loss": self.g_loss_metric.result()}


def mlp(n_in, n_out):
    return keras.Sequential([keras.Input((n_in,)), layers.Dense(16), layers.LeakyReLU(), layers.Dense(n_out)])


points = np.random.default_rng(0).normal([1, -1], 0.2, (256, 2)).astype("float32")
gan = GAN(mlp(4, 2), mlp(2, 1), 4)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3), keras.losses.BinaryCrossentropy(from_logits=True))
gan.fit(points, epochs=1, batch_size=32, verbose=2)
