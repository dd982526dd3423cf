"""A dataset of (anchor, positive, negative): the model's own steps unpack it, nothing of it is a sample weight."""

import numpy as np
import tensorflow as tf

import keras

keras.utils.set_random_seed(0)
embedding = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(4),
        keras.layers.UnitNormalization(),
    ]
)


class Siamese(keras.Model):
    def __init__(self, network, margin=0.5):
        super().__init__()
        self.network, self.margin = network, margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs):
        anchor, positive, negative = (self.network(part) for part in inputs)
        return tf.reduce_sum((anchor - positive) ** 2, -1), tf.reduce_sum((anchor - negative) ** 2, -1)

    def triplet_loss(self, data):
        near, far = self(data)
        return tf.maximum(near - far + self.margin, 0.0)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.triplet_loss(data)
        gradients = tape.gradient(loss, self.network.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.network.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        self.loss_tracker.update_state(self.triplet_loss(data))
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


centres = np.random.normal(size=(5, 8))
who = np.random.randint(0, 5, 160)
other = (who + np.random.randint(1, 5, 160)) % 5
parts = [centres[ids] + 0.3 * np.random.normal(size=(160, 8)) for ids in (who, who, other)]
triplets = tf.data.Dataset.zip(
    tuple(tf.data.Dataset.from_tensor_slices(part.astype("float32")) for part in parts)
).batch(32)
model = Siamese(embedding)
model.compile(optimizer=keras.optimizers.Adam(0.01))
history = model.fit(triplets.take(4), epochs=4, validation_data=triplets.skip(4), verbose=0)
model.evaluate(triplets.skip(4), verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
