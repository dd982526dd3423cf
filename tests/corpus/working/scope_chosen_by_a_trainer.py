"""A trainer opens the scope only for several workers."""

import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self, workers):
        self.workers = workers
        self.model = None
        self.model = self.build()
        if workers > 1:
            self.strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
            with self.strategy.scope():
                self.model = self.build()
                self.model.compile("adam", "mse")
        else:
            self.model = self.build()
            self.model.compile("adam", "mse")

    def build(self):
        return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    def train(self, x, y):
        self.model.fit(x, y, verbose=0)


cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
x = np.random.rand(32, 3)
Trainer(2).train(x, x.sum(1, keepdims=True))


def main(gpus):
    if gpus > 1:
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    else:
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    if gpus > 1:
        with strategy.scope():
            model.compile("adam", "mse")
    else:
        model.compile("adam", "mse")
    model.fit(x, x.sum(1, keepdims=True), verbose=0)


main(2)
