"""A traced training step that reads values only while somebody debugs it, with eager execution."""

import argparse

import keras
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
options = parser.parse_args([])
tf.config.run_functions_eagerly(False)


class Trainer:
    def __init__(self, options):
        self.options = options
        self.model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        self.optimizer = keras.optimizers.SGD(0.01)

    def loss(self, x, y):
        predicted = self.model(x, training=True)
        loss = tf.reduce_mean(tf.square(predicted - y))
        if self.options.debug and self.options.show:
            print("loss", loss.numpy())
        return loss

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(x, y)
        weights = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss


data = np.random.default_rng(0).random((32, 5)).astype("float32")
trainer = Trainer(options)
for _ in range(3):
    last = trainer.step(tf.constant(data[:, :4]), tf.constant(data[:, 4:]))
print(float(last))
