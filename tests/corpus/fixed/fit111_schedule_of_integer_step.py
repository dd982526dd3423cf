"""The schedule of the transformer, which casts the step."""

import numpy as np
import tensorflow as tf


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, width, warmup_steps=4000):
        super().__init__()
        self.width = tf.cast(width, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        falling = tf.math.rsqrt(step)
        rising = step * (self.warmup_steps**-1.5)
        return tf.math.rsqrt(self.width) * tf.math.minimum(falling, rising)


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(Warmup(32), beta_2=0.98), "mse")
model.fit(np.random.rand(20, 2), np.random.rand(20, 1), verbose=0)
