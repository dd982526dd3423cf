import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class MeanVarianceNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = layers.Dense(24, activation="relu")
        self.mean = layers.Dense(1)
        self.log_var = layers.Dense(1)

    def call(self, x):
        h = self.trunk(x)
        mean, log_var = self.mean(h), self.log_var(h)
        return tf.concat([mean, log_var], axis=-1)


def gaussian_nll(y_true, y_pred):
    mean, log_var = y_pred[:, :1], y_pred[:, 1:]
    return 0.5 * tf.square(y_true - mean) * tf.exp(-log_var) + 0.5 * log_var


rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (300, 1)).astype("float32")
y = (np.sin(x) + np.abs(x) * rng.normal(0, 0.2, x.shape)).astype("float32")

net = MeanVarianceNet()
net.compile(optimizer="adam", loss=gaussian_nll)
net.fit(x, y, epochs=2, batch_size=30, verbose=2)
