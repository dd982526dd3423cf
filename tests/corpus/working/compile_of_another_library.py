"""A model of the program's own with the methods of a Keras model: its metrics get NumPy arrays."""

import numpy as np


class LinearModel:
    def compile(self, loss, metrics):
        self.loss, self.metrics = loss, metrics

    def fit(self, x, y):
        self.weights = np.linalg.lstsq(x, y, rcond=None)[0]
        predicted = x @ self.weights
        return [self.loss(y, predicted), *(metric(y, predicted) for metric in self.metrics)]


def accuracy(y_true, y_pred):
    return float((y_true.argmax(-1) == y_pred.argmax(-1)).mean())


model = LinearModel()
model.compile(loss=lambda y_true, y_pred: ((y_true - y_pred) ** 2).mean(), metrics=[accuracy])
print(model.fit(np.random.rand(16, 3), np.eye(2)[np.arange(16) % 2]))
