"""A metric written for Keras 2, whose weights are named by position."""

import numpy as np
import tensorflow as tf


class PositiveShare(tf.keras.metrics.Metric):
    """How many of the answers are yes."""

    def __init__(self, name="positive_share", **kwargs):
        super().__init__(name=name, **kwargs)
        self.positives = self.add_weight("positives", initializer="zeros")  # <- FIT902
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.positives.assign_add(tf.reduce_sum(tf.cast(y_pred > 0.5, tf.float32)))
        self.total.assign_add(tf.cast(tf.size(y_pred), tf.float32))

    def result(self):
        return self.positives / self.total

    def reset_state(self):
        self.positives.assign(0.0)
        self.total.assign(0.0)


rng = np.random.default_rng(4)
answers = rng.normal(size=(48, 5)).astype("float32")
bought = (answers[:, 0] > 0).astype("float32")

model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[PositiveShare()])
model.fit(answers, bought, epochs=1, verbose=0)
