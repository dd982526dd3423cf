import numpy as np
import tensorflow as tf


class F1(tf.keras.metrics.Metric):
    def __init__(self, threshold=0.5, name="f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.threshold = threshold
        self.tp = self.add_weight(name="tp", initializer="zeros")
        self.fp = self.add_weight(name="fp", initializer="zeros")
        self.fn = self.add_weight(name="fn", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        pred = tf.cast(y_pred > self.threshold, tf.float32)
        true = tf.cast(y_true, tf.float32)
        self.tp.assign_add(tf.reduce_sum(pred * true))
        self.fp.assign_add(tf.reduce_sum(pred * (1 - true)))
        self.fn.assign_add(tf.reduce_sum((1 - pred) * true))

    def result(self):
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn + 1e-7)

    def reset_state(self):
        for v in (self.tp, self.fp, self.fn):
            v.assign(0.0)


rng = np.random.default_rng(0)
x = rng.normal(size=(200, 5)).astype("float32")
y = (x[:, :1] + x[:, 1:2] > 0.5).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[F1(), "accuracy"])
model.fit(x, y, epochs=2, batch_size=20, validation_split=0.2, verbose=2)
