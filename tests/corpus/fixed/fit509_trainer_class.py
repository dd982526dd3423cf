"""A trainer class that computes gradients in every step and applies them."""

import tensorflow as tf
from tensorflow import keras


class Trainer:
    def __init__(self, model, rate=0.05):
        self.model = model
        self.optimizer = keras.optimizers.SGD(rate)
        self.loss_of = keras.losses.MeanAbsoluteError()
        self.mean = keras.metrics.Mean()

    def step(self, features, targets):
        with tf.GradientTape() as tape:
            loss = self.loss_of(targets, self.model(features, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.mean.update_state(loss)

    def train(self, data, epochs):
        for _ in range(epochs):
            self.mean.reset_state()
            for features, targets in data:
                self.step(features, targets)
            print(float(self.mean.result()))


x = tf.random.normal((80, 5), seed=4)
y = tf.reduce_mean(x, axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(20)
Trainer(keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])).train(data, epochs=3)
