"""Layers that get lists and dicts, one that makes a layer without weights in `call`, a loss that is picked from a dict."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops


class Halved(keras.layers.Layer):
    def call(self, x):
        return x / 2.0


class Neighbours(keras.layers.Layer):
    """`[own, first neighbour, second neighbour, …]`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.own = keras.layers.Dense(units)
        self.other = keras.layers.Dense(units)

    def call(self, inputs):
        total = self.own(inputs[0])
        for number, near in enumerate(inputs[1:]):
            total = total + self.other(near) / (number + 1)
        for near in inputs[1:]:
            total = total + Halved()(self.other(near))
        if keras.backend.backend() == "torch":
            import torch

            return torch.relu(total)
        return ops.relu(total)


class Levels(keras.layers.Layer):
    def call(self, inputs):
        levels = sorted(int(name[1:]) for name in inputs)
        return inputs[f"p{levels[0]}"] + inputs[f"p{levels[-1]}"]


class Pair(keras.layers.Layer):
    def call(self, inputs):
        named, extra = inputs
        if not named:
            raise ValueError("no features")
        total = sum(named[key] for key in named)
        return total + extra


class Shuffled(keras.layers.Layer):
    """Only a holder of layers: it is called in its own way."""

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


one, two, three = (keras.Input((4,)) for _ in range(3))
hidden = Neighbours(4)([one, two, three])
hidden = Levels()({"p1": hidden, "p3": one})
hidden = Pair()([{"a": hidden, "b": two}, three])
model = keras.Model([one, two, three], keras.layers.Dense(1)(hidden))
optimizer = keras.optimizers.Adam(0.01)

rng = np.random.default_rng(0)
data = [rng.normal(size=(64, 4)).astype("float32") for _ in range(3)]
data[0] = np.asarray(Shuffled([keras.layers.Rescaling(0.5)])(data[0]))
target = rng.normal(size=(64, 1)).astype("float32")

for _ in range(3):
    with tf.GradientTape() as tape:
        error = model(data, training=True) - target
        losses = {"total": tf.reduce_mean(error**2), "worst": tf.reduce_max(tf.abs(error))}
    loss = losses["total"]
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

model.compile("adam", "mse")
model.fit(data, target, epochs=2, verbose=0)
