"""A trainer trains backbone and head together, but stops the gradient between them."""

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.backbone = tf.keras.Sequential(
            [tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="tanh")]
        )
        self.head = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            features = tf.stop_gradient(self.backbone(x, training=True))  # <- FIT506
            loss = tf.reduce_mean(tf.square(self.head(features, training=True) - y))
        variables = self.backbone.trainable_variables + self.head.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


tf.keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(32, 6)).astype("float32")
trainer = Trainer()
for _epoch in range(2):
    print(float(trainer.step(x, x[:, :1])))
