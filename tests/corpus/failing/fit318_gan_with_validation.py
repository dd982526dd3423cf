import keras
import numpy as np
import tensorflow as tf
from keras import layers


class TinyGAN(keras.Model):
    def __init__(self, dim, latent=3):
        super().__init__()
        self.latent = latent
        self.gen = keras.Sequential([keras.Input((latent,)), layers.Dense(16, activation="relu"), layers.Dense(dim)])
        self.disc = keras.Sequential([keras.Input((dim,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.d_opt, self.g_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
        self.d_tracker, self.g_tracker = keras.metrics.Mean(name="d"), keras.metrics.Mean(name="g")

    @property
    def metrics(self):
        return [self.d_tracker, self.g_tracker]

    def train_step(self, real):
        z = tf.random.normal((tf.shape(real)[0], self.latent))
        with tf.GradientTape() as dt, tf.GradientTape() as gt:
            r, f = self.disc(real), self.disc(self.gen(z))
            d_loss = self.bce(tf.ones_like(r), r) + self.bce(tf.zeros_like(f), f)
            g_loss = self.bce(tf.ones_like(f), f)
        d_vars, g_vars = self.disc.trainable_variables, self.gen.trainable_variables
        self.d_opt.apply_gradients(zip(dt.gradient(d_loss, d_vars), d_vars))
        self.g_opt.apply_gradients(zip(gt.gradient(g_loss, g_vars), g_vars))
        self.d_tracker.update_state(d_loss)
        self.g_tracker.update_state(g_loss)
        return {"d": self.d_tracker.result(), "g": self.g_tracker.result()}


def main():
    x = np.random.default_rng(0).normal(1.0, 0.3, (200, 4)).astype("float32")
    gan = TinyGAN(4)
    gan.compile()
    gan.fit(x[:160], epochs=1, batch_size=16, validation_data=(x[160:],), verbose=2)  # <- FIT318


if __name__ == "__main__":
    main()
