import keras
import numpy as np
from keras import layers, ops


class MaxNormClip(layers.Layer):
    """Rescales the batch when its norm is above a limit."""

    def __init__(self, limit=3.0, **kwargs):
        super().__init__(**kwargs)
        self.limit = limit

    def call(self, x):
        norm = ops.sqrt(ops.mean(ops.square(x)))
        scale = ops.where(norm > self.limit, self.limit / norm, 1.0)
        return x * scale


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = layers.Dense(32, activation="relu")
        self.clip = MaxNormClip()
        self.o = layers.Dense(2, activation="softmax")

    def call(self, x):
        return self.o(self.clip(self.h(x)))


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")
net = Net()
net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(x, y, epochs=2, batch_size=20, verbose=2)
