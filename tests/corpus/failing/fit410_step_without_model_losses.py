import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Sampling(layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
        self.add_loss(0.1 * kl)
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


def build_encoder(dim, latent):
    inputs = tf.keras.Input((dim,))
    hidden = layers.Dense(8, activation="relu")(inputs)
    return tf.keras.Model(inputs, Sampling()([layers.Dense(latent)(hidden), layers.Dense(latent)(hidden)]))


class VAE(tf.keras.Model):
    def __init__(self, dim):
        super().__init__()
        self.encoder = build_encoder(dim, 2)
        self.decoder = layers.Dense(dim)
        self.tracker = tf.keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            reconstructed = self(x, training=True)
            loss = tf.reduce_mean(tf.square(x - reconstructed))  # <- FIT410
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


vae = VAE(6)
vae.compile("adam")
vae.fit(np.random.default_rng(0).normal(size=(64, 6)).astype("float32"), epochs=2, verbose=0)
