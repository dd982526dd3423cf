"""produced by Python code | a `keras.utils.PyDataset`, or `tf.data.Dataset.from_generator` with an `output_signature`"""

import keras
import numpy as np
import tensorflow as tf


def batches():
    rng = np.random.default_rng(0)
    for _ in range(5):
        rows = rng.random((8, 3)).astype("float32")
        yield rows, rows.sum(axis=1, keepdims=True)


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        rows = np.random.default_rng(index).random((8, 3)).astype("float32")
        return rows, rows.sum(axis=1, keepdims=True)


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
signature = (tf.TensorSpec((None, 3), tf.float32), tf.TensorSpec((None, 1), tf.float32))
first = model.fit(tf.data.Dataset.from_generator(batches, output_signature=signature), verbose=0)
second = model.fit(Batches(), verbose=0)
assert np.isfinite(first.history["loss"] + second.history["loss"]).all()
