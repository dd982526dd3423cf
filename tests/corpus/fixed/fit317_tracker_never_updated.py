import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class TripletModel(keras.Model):
    def __init__(self, encoder, margin=0.5):
        super().__init__()
        self.encoder = encoder
        self.margin = margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x):
        return self.encoder(x)

    def train_step(self, data):
        anchor, positive, negative = data[:, 0], data[:, 1], data[:, 2]
        with tf.GradientTape() as tape:
            a, p, n = self.encoder(anchor), self.encoder(positive), self.encoder(negative)
            ap = tf.reduce_sum(tf.square(a - p), axis=-1)
            an = tf.reduce_sum(tf.square(a - n), axis=-1)
            loss = tf.reduce_mean(tf.maximum(ap - an + self.margin, 0.0))
        grads = tape.gradient(loss, self.encoder.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.encoder.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


rng = np.random.default_rng(0)
centers = rng.normal(size=(6, 5))
k = rng.integers(0, 6, 160)
other = (k + rng.integers(1, 6, 160)) % 6
triplets = np.stack([centers[k], centers[k], centers[other]], axis=1) + 0.2 * rng.normal(size=(160, 3, 5))

encoder = keras.Sequential([keras.Input((5,)), layers.Dense(16, activation="relu"), layers.Dense(4)])
model = TripletModel(encoder)
model.compile(optimizer="adam")
model.fit(triplets.astype("float32"), epochs=2, batch_size=16, verbose=2)
