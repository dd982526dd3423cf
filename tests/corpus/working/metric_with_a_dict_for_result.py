"""A metric whose state has another shape than the labels, update_state with sample_weight that it does not use, and result of a dict."""
import numpy as np
import keras
from keras import ops

class PerClass(keras.metrics.Metric):
    def __init__(self, n, name="per_class", **kw):
        super().__init__(name=name, **kw)
        self.hits = self.add_variable((n,), "zeros", name="hits")
        self.seen = self.add_variable((n,), "zeros", name="seen")
        self.n = n
    def update_state(self, y_true, y_pred, sample_weight=None):
        y = ops.one_hot(ops.cast(ops.reshape(y_true, (-1,)), "int32"), self.n)
        p = ops.one_hot(ops.argmax(y_pred, -1), self.n)
        self.hits.assign(self.hits + ops.sum(y * p, 0))
        self.seen.assign(self.seen + ops.sum(y, 0))
    def result(self):
        r = self.hits / ops.maximum(self.seen, 1)
        return {f"recall_{i}": r[i] for i in range(self.n)}

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 3))
y = x.argmax(1)
m = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, activation="softmax")])
m.compile(keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy", metrics=[PerClass(3)])
h = m.fit(x, y, epochs=15, verbose=0, callbacks=[keras.callbacks.EarlyStopping("recall_1", mode="max", patience=5)])
print({k: v[-1] for k, v in h.history.items()})
