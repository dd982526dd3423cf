"""Generator of another width."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(1)

class GAN(keras.Model):
    def __init__(self, g, d, latent):
        super().__init__()
        self.g, self.d, self.latent = g, d, latent
        self.g_loss = keras.metrics.Mean(name="g"); self.d_loss = keras.metrics.Mean(name="d")
    def compile(self, d_opt, g_opt, loss_fn):
        super().compile()
        self.d_opt, self.g_opt, self.loss_fn = d_opt, g_opt, loss_fn
    @property
    def metrics(self):
        return [self.g_loss, self.d_loss]
    def train_step(self, real):
        n = tf.shape(real)[0]
        z = tf.random.normal((n, self.latent))
        fake = self.g(z)
        both = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], axis=0)
        with tf.GradientTape() as tape:
            loss = self.loss_fn(labels, self.d(both))
        self.d_opt.apply_gradients(zip(tape.gradient(loss, self.d.trainable_weights), self.d.trainable_weights))
        with tf.GradientTape() as tape:
            gl = self.loss_fn(tf.zeros((n, 1)), self.d(self.g(z)))
        self.g_opt.apply_gradients(zip(tape.gradient(gl, self.g.trainable_weights), self.g.trainable_weights))
        self.g_loss.update_state(gl); self.d_loss.update_state(loss)
        return {"g": self.g_loss.result(), "d": self.d_loss.result()}
g = keras.Sequential([layers.Dense(6)]); d = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)])
gan = GAN(g, d, 4)
gan.compile(keras.optimizers.Adam(), keras.optimizers.Adam(), keras.losses.BinaryCrossentropy(from_logits=True))
data = tf.data.Dataset.from_tensor_slices(np.random.rand(64, 6).astype("float32")).batch(16)
print(gan.fit(data, epochs=2, verbose=0).history)
