"""NaN in y marks a property that was not measured; the loss leaves it out without a NaN in the gradient."""
import numpy as np
import tensorflow as tf

class MaskedMSE(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        known = tf.math.is_finite(y_true)
        diff = tf.where(known, y_true, y_pred) - y_pred
        return tf.reduce_sum(tf.square(diff), -1) / tf.maximum(tf.reduce_sum(tf.cast(known, y_pred.dtype), -1), 1.0)

rng = np.random.default_rng(0)
x = rng.normal(size=(500, 6)).astype("float32")
W = rng.normal(size=(6, 3)).astype("float32")
y = x @ W
y[rng.random(y.shape) < 0.4] = np.nan
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
model.compile(tf.keras.optimizers.Adam(0.05), MaskedMSE())
model.fit(x, y, epochs=30, verbose=0)
err = np.abs(model.get_weights()[0] - W).max()
print(err)
