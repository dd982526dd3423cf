"""Metrics whose values NumPy computes inside `py_function`."""

import numpy as np
import tensorflow as tf


class Corr(tf.keras.metrics.Metric):
    def __init__(self, name="corr", **kw):
        super().__init__(name=name, **kw)
        self.total = self.add_weight(name="t", initializer="zeros")
        self.n = self.add_weight(name="n", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        value = tf.py_function(self.numpy_part, [y_true, y_pred], tf.float32)
        self.total.assign_add(tf.reshape(value, ()))
        self.n.assign_add(1.0)

    def numpy_part(self, y_true, y_pred):
        return np.float32(np.corrcoef(y_true.numpy().ravel(), y_pred.numpy().ravel())[0, 1])

    def result(self):
        return self.total / self.n


class Kept(tf.keras.metrics.Metric):
    def __init__(self, name="kept", **kw):
        super().__init__(name=name, **kw)
        self.values = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        def keep(a, b):
            self.values.append(float(np.mean(a.numpy() - b.numpy())))
            return 0.0

        tf.py_function(keep, [y_true, y_pred], tf.float32)

    def result(self):
        return tf.py_function(lambda: np.float32(np.mean(self.values) if self.values else 0), [], tf.float32)

    def reset_state(self):
        self.values = []


class Counts(tf.keras.metrics.Metric):
    def __init__(self, name="counts", **kw):
        super().__init__(name=name, **kw)
        self.seen = self.add_weight(name="s", initializer="zeros")
        self.rows = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        tf.py_function(self._update, inp=[y_true, y_pred], Tout=[])

    def _update(self, y_true, y_pred):
        for row in y_true.numpy():
            if row[0] > 0.5:
                self.rows.append(row)
        self.seen.assign_add(len(self.rows))

    def result(self):
        return self.seen


m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile("adam", "mse", metrics=[Corr(), Kept(), Counts()])
m.fit(np.random.rand(16, 4), np.random.rand(16, 1), verbose=0)
