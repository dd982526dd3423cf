"""Shuffle rows that are sorted by class (silent)."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(8)
x = np.concatenate([rng.normal(-1, 1, (200, 3)), rng.normal(1, 1, (200, 3))]).astype("float32")
y = np.repeat([0, 1], 200)

ds = tf.data.Dataset.from_tensor_slices((x, y))
ds.shuffle(400, seed=1)  # <- FIT004
ds = ds.batch(20)

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("sgd", "binary_crossentropy")
model.fit(ds, verbose=0)
print("classes in the first batch:", len(np.unique(next(iter(ds))[1])))
