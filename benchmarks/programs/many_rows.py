"""Times `check` on more rows than it has time to read, and on sixteen times as many."""

import json
import tempfile
import time

import keras
import numpy as np

import fitdoctor

model = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
seconds = {}
for rows in (1_000, 16_000_000, 256_000_000):
    # A file of nothing but holes: 64 GB that take no room.
    with tempfile.NamedTemporaryFile() as file:
        x = np.memmap(file.name, dtype="float32", mode="w+", shape=(rows, 64))
        y = np.resize(np.arange(10, dtype="uint8"), rows)
        began = time.perf_counter()
        fitdoctor.check(model, x, y, batch_size=32)
        seconds[rows] = time.perf_counter() - began
        del x, y
print(json.dumps(seconds))
