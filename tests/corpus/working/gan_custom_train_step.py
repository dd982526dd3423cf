import keras
import numpy as np
import tensorflow as tf


class GAN(keras.Model):
    def __init__(self, latent=4, dim=2):
        super().__init__()
        self.latent = latent
        self.gen = keras.Sequential([keras.Input((latent,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(dim)])
        self.disc = keras.Sequential([keras.Input((dim,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
        self.d_tracker = keras.metrics.Mean(name="d_loss")
        self.g_tracker = keras.metrics.Mean(name="g_loss")

    @property
    def metrics(self):
        return [self.d_tracker, self.g_tracker]

    def compile(self, d_opt, g_opt):
        super().compile()
        self.d_opt, self.g_opt = d_opt, g_opt
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        n = tf.shape(real)[0]
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal((n, self.latent)), training=True)
            logits = self.disc(tf.concat([real, fake], 0), training=True)
            d_loss = self.bce(tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], 0), logits)
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal((n, self.latent)), training=True)
            g_loss = self.bce(tf.ones((n, 1)), self.disc(fake, training=True))
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        self.d_tracker.update_state(d_loss)
        self.g_tracker.update_state(g_loss)
        return {"d_loss": self.d_tracker.result(), "g_loss": self.g_tracker.result()}


points = np.random.default_rng(0).normal(1.0, 0.3, (160, 2)).astype("float32")
gan = GAN()
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
gan.fit(points, epochs=2, batch_size=16, verbose=2)
