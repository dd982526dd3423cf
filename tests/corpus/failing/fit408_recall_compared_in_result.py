"""The F1 score of two metrics of Keras, with a Python `if` in `result`: Keras asks for it while it traces the step."""

import keras
import numpy as np


class F1(keras.metrics.Metric):
    def __init__(self, name="f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.precision = keras.metrics.Precision()
        self.recall = keras.metrics.Recall()

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.precision.update_state(y_true, y_pred, sample_weight)
        self.recall.update_state(y_true, y_pred, sample_weight)

    def result(self):
        precision, recall = self.precision.result(), self.recall.result()
        if precision + recall == 0:  # <- FIT408
            return 0.0
        return 2 * precision * recall / (precision + recall)

    def reset_state(self):
        self.precision.reset_state()
        self.recall.reset_state()


model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[F1()])
rng = np.random.default_rng(6)
model.fit(rng.random((32, 5)), rng.integers(0, 2, (32, 1)), epochs=1, verbose=0)
