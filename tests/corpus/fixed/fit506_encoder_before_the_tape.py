import numpy as np
import tensorflow as tf
from tensorflow import keras


class Autoencoder(keras.Model):
    def __init__(self, latent):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(latent)])
        self.decoder = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(12)])
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            code = self.encoder(x, training=True)
            rebuilt = self.decoder(code, training=True)
            loss = tf.reduce_mean(tf.square(x - rebuilt))
        variables = self.encoder.trainable_variables + self.decoder.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


data = np.random.default_rng(0).normal(size=(256, 12)).astype("float32")
model = Autoencoder(3)
model.compile(optimizer=keras.optimizers.Adam(1e-2))
model.fit(data, epochs=2, batch_size=32, verbose=0)
