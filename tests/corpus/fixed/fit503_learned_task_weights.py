import tensorflow as tf
import numpy as np
from tensorflow.keras import layers


class LogSigma(layers.Layer):
    """Kendall et al.: learned noise level, put beside the prediction."""

    def build(self, input_shape):
        self.log_sigma = self.add_weight(shape=(), initializer="zeros", name="log_sigma")

    def call(self, mean):
        return tf.concat([mean, self.log_sigma * tf.ones_like(mean)], axis=-1)


def gaussian_nll(y_true, y_pred):
    mean, log_sigma = y_pred[:, :1], y_pred[:, 1:]
    return tf.exp(-2.0 * log_sigma) * tf.square(y_true - mean) + log_sigma


rng = np.random.default_rng(0)
x = rng.normal(size=(256, 4)).astype("float32")
y = (x.sum(axis=1, keepdims=True) + rng.normal(0, 0.3, (256, 1))).astype("float32")

noise = LogSigma()
model = tf.keras.Sequential([layers.Input((4,)), layers.Dense(16, activation="relu"), layers.Dense(1), noise])
model.compile(optimizer="adam", loss=gaussian_nll)
model.fit(x, y, epochs=3, batch_size=32, verbose=0)
print("sigma", float(tf.exp(noise.log_sigma)))
