"""The gradient passes the branches of `tf.cond`, although nothing passes its question; a loss that stands on its own."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def padded(tensor, shape, value=0.0):
    missing = shape - tf.shape(tensor)
    return tf.cond(
        tf.reduce_any(missing > 0),
        lambda: tf.pad(tensor, tf.stack([tf.zeros_like(missing), missing], 1), constant_values=value),
        lambda: tensor,
    )


def loss_of_the_padded(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - padded(y_pred, tf.shape(y_true))))


def loss_by_distance(y_true, y_pred):
    def near():
        return tf.reduce_mean(tf.square(y_true - y_pred))

    def far():
        return tf.reduce_mean(tf.abs(y_true - y_pred))

    return tf.cond(tf.reduce_max(tf.abs(y_true - y_pred)) < 1.0, near, far)


class RootMeanSquare(tf.keras.losses.Loss):
    name = "rms"

    def __init__(self):
        self.square = tf.keras.losses.MeanSquaredError()

    def __call__(self, y_true, y_pred, sample_weight=None):
        return tf.sqrt(self.square(y_true, y_pred, sample_weight=sample_weight))


x = np.random.rand(64, 4).astype("float32")
for loss in (loss_of_the_padded, loss_by_distance, RootMeanSquare()):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4)])
    model.compile("adam", loss)
    history = model.fit(x, x, epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
