"""A helper makes layers or variables, and is called once: from `build`, or behind a condition; what a tape saw is picked later."""

import numpy as np
import tensorflow as tf

import keras

keras.utils.set_random_seed(0)


class Lazy(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units, self.inner = units, None

    def build(self, shape):
        self._make(shape)

    def _make(self, shape):
        self.inner = keras.layers.Dense(self.units, activation="relu")
        self.inner.build(shape)

    def call(self, x):
        if self.inner is None:
            self._make(x.shape)
        return self.inner(x)


class Accumulating(keras.Model):
    first = True

    def make_slots(self):
        self.slots = [tf.Variable(lambda v=v: tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]

    def train_step(self, data):
        if self.first:
            self.make_slots()
            self.first = False
        x, y = data
        with tf.GradientTape() as tape:
            error = tf.reduce_mean((self(x, training=True) - y[:, None]) ** 2)
        for slot, gradient in zip(self.slots, tape.gradient(error, self.trainable_variables)):
            slot.assign(0.5 * slot + gradient)
        self.optimizer.apply_gradients(zip(self.slots, self.trainable_variables))
        return {"error": error}


x = np.random.rand(64, 3).astype("float32")
inputs = keras.Input((3,))
model = Accumulating(inputs, keras.layers.Dense(1)(Lazy(8)(inputs)))
model.compile(keras.optimizers.SGD(0.05))
history = model.fit(x, x.sum(axis=1), epochs=4, verbose=0)
assert history.history["error"][-1] < history.history["error"][0]


class Outcome:
    def __init__(self, prediction):
        self.square, self.size = tf.reduce_mean(prediction**2), tf.reduce_mean(tf.abs(prediction))


network = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
for field in ("square", "size"):
    with tf.GradientTape() as tape:
        outcome = Outcome(network(x))
    loss = getattr(outcome, field)
    assert tape.gradient(loss, network.trainable_variables)[0] is not None
