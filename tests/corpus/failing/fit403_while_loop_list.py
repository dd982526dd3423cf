import keras
import numpy as np
import tensorflow as tf


class IterativeRefiner(keras.layers.Layer):
    """Runs the same update several times, returns the mean of the iterates."""

    def __init__(self, units, iterations=3):
        super().__init__()
        self.iterations = iterations
        self.update = keras.layers.Dense(units, activation="tanh")

    def build(self, input_shape):
        self.update.build(input_shape)

    def call(self, x):
        iterates = []

        def body(i, h):
            h = h + self.update(h)
            iterates.append(h)  # <- FIT403
            return i + 1, h

        tf.while_loop(lambda i, h: i < self.iterations, body, [tf.constant(0), x])
        return tf.reduce_mean(tf.stack(iterates), axis=0)  # <~ FIT403

    def compute_output_shape(self, input_shape):
        return input_shape


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 8)).astype("float32")
y = np.tanh(x).sum(axis=1)
model = keras.Sequential([keras.Input((8,)), IterativeRefiner(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=1, batch_size=20, verbose=2)
