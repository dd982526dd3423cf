import numpy as np
import tensorflow as tf
from tensorflow import keras


class DenoisingAutoencoder(keras.Model):
    """Adds noise on the fly and reconstructs the clean row."""

    def __init__(self, width, code=4, noise=0.1, **kwargs):
        super().__init__(**kwargs)
        self.noise = keras.layers.GaussianNoise(noise)
        self.encoder = keras.layers.Dense(code, activation="relu")
        self.decoder = keras.layers.Dense(width)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def compile(self, optimizer, recon_loss):
        super().compile(optimizer=optimizer)
        self.recon_loss = recon_loss

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x, training=None):
        return self.decoder(self.encoder(self.noise(x, training=training)))

    def train_step(self, data):
        x = data
        with tf.GradientTape() as tape:
            loss = self.recon_loss(x, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


latent = np.random.default_rng(0).normal(size=(256, 3))
mix = np.random.default_rng(1).normal(size=(3, 10))
x = (latent @ mix).astype("float32")

model = DenoisingAutoencoder(10)
model.compile(keras.optimizers.Adam(1e-2), keras.losses.MeanSquaredError())
model.fit(x, epochs=2, batch_size=32)
