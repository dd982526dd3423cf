import numpy as np
import tensorflow as tf


class LogCoshPlus(tf.keras.losses.Loss):
    """log cosh, with a heavier tail for underestimates."""

    def __init__(self, alpha=0.3, **kw):
        super().__init__(**kw)
        self.alpha = alpha

    def call(self, y_true, y_pred):
        err = y_pred - tf.cast(y_true, y_pred.dtype)  # <- FIT204
        base = tf.math.log(tf.cosh(err))
        return tf.reduce_mean(base + self.alpha * tf.nn.relu(-err), axis=-1)


def synthetic(n=200, d=5):
    rng = np.random.default_rng(12)
    x = rng.normal(size=(n, d)).astype("float32")
    y = np.tanh(x[:, 0]) + 0.3 * x[:, 1]
    return x, y.astype("float32")


x, y = synthetic()  # <~ FIT204
inputs = tf.keras.Input((5,))
h = tf.keras.layers.Dense(20, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(1)(h)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=LogCoshPlus(alpha=0.2))
model.fit(x, y, epochs=3, batch_size=20, verbose=2)  # <~ FIT204
