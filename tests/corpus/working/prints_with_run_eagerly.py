import keras
import numpy as np
import tensorflow as tf


class DebugLayer(keras.layers.Layer):
    def __init__(self, every=5):
        super().__init__()
        self.every = every
        self.calls = 0

    def call(self, x):
        self.calls += 1
        if not isinstance(x, keras.KerasTensor) and self.calls % self.every == 0:
            print("call", self.calls, "mean", float(tf.reduce_mean(x)))
        return x


rng = np.random.default_rng(0)
x = rng.normal(size=(100, 4)).astype("float32")
y = x[:, 0] ** 2
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), DebugLayer(), keras.layers.Dense(1)])
# eager, so that print and the counter run at each step
model.compile("adam", "mse", run_eagerly=True)
model.fit(x, y, epochs=1, batch_size=10, verbose=0)
