"""Times `check` on more rows than it has time to read, and on four times as many."""

import json
import time

import keras
import numpy as np

import fitdoctor

model = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
seconds = {}
for rows in (1_000, 4_000_000, 16_000_000):
    x = np.zeros((rows, 64), dtype="float32")
    x[:] = 0.5
    y = np.arange(rows) % 10
    began = time.perf_counter()
    fitdoctor.check(model, x, y, batch_size=32)
    seconds[rows] = time.perf_counter() - began
    del x, y
print(json.dumps(seconds))
