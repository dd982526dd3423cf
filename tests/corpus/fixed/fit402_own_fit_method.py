"""A trainer class with a `fit` of its own collects the losses outside of the traced step."""

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.model = tf.keras.Sequential(
            [tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)]
        )
        self.optimizer = tf.keras.optimizers.Adam()
        self.losses = []

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x) - y) ** 2)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            for x, y in batches:
                self.losses.append(self.step(x, y))
            print(epoch, np.mean([loss.numpy() for loss in self.losses]))


x = np.random.rand(64, 3).astype("float32")
y = np.random.rand(64, 1).astype("float32")
Trainer().fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), 2)
