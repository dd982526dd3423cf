"""Metrics as one list per output, as a dict, and as one metric per output."""

import numpy as np
import keras
from keras import layers

a = keras.Input((4,))
h = layers.Dense(8)(a)
kind = layers.Dense(3, activation="softmax", name="kind")(h)
size = layers.Dense(1, name="size")(h)
model = keras.Model(a, [kind, size])
model.compile("adam", loss=["sparse_categorical_crossentropy", "mse"], metrics=[["accuracy"], ["mae", "mse"]])
model.fit(np.random.rand(16, 4), [np.random.randint(0, 3, 16), np.random.rand(16, 1)], verbose=0)
model.compile("adam", loss=["sparse_categorical_crossentropy", "mse"], metrics=[["accuracy"], []])
model.fit(np.random.rand(16, 4), [np.random.randint(0, 3, 16), np.random.rand(16, 1)], verbose=0)
model.compile(
    "adam",
    loss={"kind": "sparse_categorical_crossentropy", "size": "mse"},
    metrics={"kind": ["accuracy"], "size": "mae"},
)
model.fit(np.random.rand(16, 4), [np.random.randint(0, 3, 16), np.random.rand(16, 1)], verbose=0)
model.compile("adam", loss=["sparse_categorical_crossentropy", "mse"], metrics=["accuracy", "mae"])
h = model.fit(np.random.rand(16, 4), [np.random.randint(0, 3, 16), np.random.rand(16, 1)], verbose=0)
ce = [keras.losses.SparseCategoricalCrossentropy(), "mse"]
ms = [[keras.metrics.SparseCategoricalAccuracy(name="acc")], [keras.metrics.RootMeanSquaredError()]]
model.compile("adam", loss=ce, metrics=ms)
h = model.fit(np.random.rand(16, 4), [np.random.randint(0, 3, 16), np.random.rand(16, 1)], verbose=0)
print(h.history.keys())
