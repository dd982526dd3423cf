import numpy as np
import tensorflow as tf


class MeanBias(tf.keras.metrics.Metric):
    """Mean of prediction minus truth."""

    def __init__(self, name="mean_bias", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred):  # <- FIT314
        diff = tf.cast(y_pred, tf.float32) - tf.cast(y_true, tf.float32)
        self.total.assign_add(tf.reduce_sum(diff))
        self.count.assign_add(tf.cast(tf.size(diff), tf.float32))

    def result(self):
        return self.total / self.count

    def reset_state(self):
        self.total.assign(0.0)
        self.count.assign(0.0)


rng = np.random.default_rng(0)
X = rng.normal(size=(160, 5)).astype("float32")
y = (X @ np.array([1.0, -2.0, 0.5, 0.0, 1.0]))[:, None].astype("float32")

model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=[MeanBias()])
model.fit(X, y, epochs=2, batch_size=32, verbose=2)
