"""The same optimizer as Keras 3 calls it."""

import numpy as np
import tensorflow as tf


class SignSGD(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.01, name="SignSGD", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)

    def update_step(self, gradient, variable, learning_rate):
        variable.assign_sub(tf.cast(learning_rate, variable.dtype) * tf.sign(gradient))


m = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])
m.compile(SignSGD(), "mse")
m.fit(np.random.rand(9, 3), np.random.rand(9, 1), verbose=0)
