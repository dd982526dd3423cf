import numpy as np
import tensorflow as tf


class ImputeMean(tf.keras.layers.Layer):
    """Replaces NaN by the column mean and adds a flag for it."""

    def __init__(self, means, **kw):
        super().__init__(**kw)
        self.means = np.asarray(means, dtype="float32")

    def call(self, x):
        missing = tf.math.is_nan(x)
        filled = tf.where(missing, tf.zeros_like(x) + self.means, x)
        return tf.concat([filled, tf.cast(missing, x.dtype)], axis=-1)


rng = np.random.default_rng(1)
x = rng.normal(size=(220, 4)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")
x[rng.random(x.shape) < 0.05] = np.nan

inp = tf.keras.Input((4,))
h = ImputeMean(np.nanmean(x, axis=0))(inp)
h = tf.keras.layers.Dense(12, activation="relu")(h)
model = tf.keras.Model(inp, tf.keras.layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=22, verbose=2)
