"""A dataset that returns a list of inputs only if nothing prepares them; this program prepares them."""

import keras
import numpy as np


class Samples(keras.utils.PyDataset):
    def __init__(self, prepare=None, **kwargs):
        super().__init__(**kwargs)
        self.prepare = prepare
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        ids, weights = self.rng.integers(0, 10, (8, 3)), self.rng.random((8, 3))
        if self.prepare:
            inputs = self.prepare(ids, weights)
        else:
            inputs = [ids, weights]
        return inputs, weights.sum(axis=1, keepdims=True)


ids, weights = keras.Input((3,), dtype="int32", name="ids"), keras.Input((3,), name="weights")
x = keras.layers.Flatten()(keras.layers.Embedding(10, 4)(ids))
model = keras.Model([ids, weights], keras.layers.Dense(1)(keras.layers.concatenate([x, weights])))
model.compile("adam", "mse")
training = Samples(prepare=lambda ids, weights: {"ids": ids, "weights": weights})
model.fit(training, verbose=0)
