"""Train with a custom learning rate schedule."""

import keras
import numpy as np
import tensorflow as tf


class Warmup(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, width, warm=100):
        self.width = width
        self.warm = warm

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        falling = tf.math.rsqrt(step)
        rising = step * self.warm**-1.5
        return self.width**-0.5 * tf.math.minimum(falling, rising)


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(Warmup(16)), loss="mse")
x = np.random.default_rng(2).random((32, 4)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)
