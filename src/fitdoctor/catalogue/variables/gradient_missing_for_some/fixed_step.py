import keras
import numpy as np
import tensorflow as tf


class Autoencoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.squeeze = keras.Sequential([keras.layers.Dense(3, activation="relu")])
        self.restore = keras.Sequential([keras.layers.Dense(12)])
        self.error = keras.metrics.Mean(name="error")

    def train_step(self, scans):
        with tf.GradientTape() as tape:
            code = self.squeeze(scans, training=True)
            error = tf.reduce_mean(tf.square(scans - self.restore(code, training=True)))
        variables = self.squeeze.trainable_variables + self.restore.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(error, variables), variables))
        self.error.update_state(error)
        return {"error": self.error.result()}


scans = np.random.default_rng(3).normal(size=(96, 12)).astype("float32")
model = Autoencoder()
model.compile(optimizer="adam")
model.fit(scans, epochs=2, verbose=0)
