from tensorflow import keras
import tensorflow as tf
import numpy as np


class PoissonNLL(keras.losses.Loss):
    def call(self, y_true, y_pred):
        y_pred = tf.maximum(y_pred, 1e-6)
        return y_pred - y_true * tf.math.log(y_pred)


class Runner:
    def __init__(self, epochs=2):
        self.epochs = epochs
        self.model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="softplus")]
        )
        self.model.compile(optimizer="adam", loss=PoissonNLL())

    def __call__(self, x, counts):
        return self.model.fit(x, counts, epochs=self.epochs, batch_size=25, verbose=2)


rng = np.random.default_rng(1)
x = rng.normal(size=(200, 4)).astype("float32")
counts = rng.poisson(np.exp(0.5 * x[:, :1])).astype("float32")
Runner()(x, counts)
