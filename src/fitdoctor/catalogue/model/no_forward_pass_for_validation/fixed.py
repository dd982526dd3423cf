import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Autoencoder(keras.Model):
    def __init__(self, width, latent):
        super().__init__()
        self.encoder = layers.Dense(latent, activation="relu")
        self.decoder = layers.Dense(width)
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.decoder(self.encoder(data)) - data))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


x = np.random.default_rng(0).normal(size=(240, 8)).astype("float32")
model = Autoencoder(8, 3)
model.compile(optimizer="adam")
model.fit(x, epochs=2, batch_size=32, verbose=0)
