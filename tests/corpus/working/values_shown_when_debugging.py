"""A traced step shows its values only if a setting asks for it; whoever sets it also turns off tracing."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")


class Trainer:
    def __init__(self, options):
        self.options = options
        tf.config.run_functions_eagerly(False)
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            predicted = self.model(x, training=True)
            loss = tf.reduce_mean(tf.square(y - predicted))
            if self.options.debug:
                print("loss", loss.numpy())
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss


trainer = Trainer(parser.parse_args([]))
for _ in range(2):
    print(trainer.step(tf.random.normal((8, 3)), tf.zeros((8, 1))))
