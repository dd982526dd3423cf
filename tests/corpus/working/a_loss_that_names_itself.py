"""A loss that is only called by hand: it has a name and a `__call__` of its own, and sets nothing up."""

from abc import ABC, abstractmethod

import keras
import numpy as np
import tensorflow as tf

if tf.__version__.startswith("1."):
    OLD = True
else:
    OLD = False
if OLD:
    tf.set_random_seed(1)
else:
    tf.random.set_seed(1)


class NamedLoss(ABC, keras.losses.Loss):
    @property
    def name(self):
        return type(self).__name__

    @abstractmethod
    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of a batch."""


class SignLoss(NamedLoss):
    def __init__(self, bound):
        self.bound = bound

    def __call__(self, y_true, y_pred, sample_weight=None):
        return tf.reduce_mean(tf.math.softplus(-y_true * tf.clip_by_value(y_pred, -self.bound, self.bound)))


model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
loss = SignLoss(15.0)
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
y = np.sign(x[:, :1])
for _ in range(3):
    with tf.GradientTape() as tape:
        value = loss(y, model(x, training=True))
    gradients = tape.gradient(value, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(loss.name, float(value))
