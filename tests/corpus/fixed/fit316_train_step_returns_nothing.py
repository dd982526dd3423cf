import tensorflow as tf
import numpy as np
from tensorflow.keras.layers import Dense


class WGANGenOnly(tf.keras.Model):
    """Moment matching generator: no critic, matches mean and variance."""

    def __init__(self, latent_dim=4):
        super().__init__()
        self.latent_dim = latent_dim
        self.hidden = Dense(16, activation="relu")
        self.out = Dense(2)
        self.loss_metric = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_metric]

    def call(self, z):
        return self.out(self.hidden(z))

    def train_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], self.latent_dim))
        with tf.GradientTape() as tape:
            fake = self(z)
            d_mean = tf.reduce_mean(real, 0) - tf.reduce_mean(fake, 0)
            d_std = tf.math.reduce_std(real, 0) - tf.math.reduce_std(fake, 0)
            loss = tf.reduce_sum(d_mean ** 2) + tf.reduce_sum(d_std ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_metric.update_state(loss)
        return {"loss": self.loss_metric.result()}


points = np.random.default_rng(0).normal([1.0, -1.0], [0.5, 2.0], (320, 2)).astype("float32")
gen = WGANGenOnly()
gen.compile(optimizer=tf.keras.optimizers.Adam(1e-2))
gen.fit(points, batch_size=64, epochs=2, verbose=2)
