"""Train a model on a table, and validate it on the same table."""

import io

import keras
import numpy as np

rng = np.random.default_rng(13)
text = io.StringIO()
np.savetxt(text, rng.normal(size=(150, 10)))
text.seek(0)

table = np.loadtxt(text, dtype="float32")
leaves = table[:, :9]
diseased = table[:, 9:] > 0

model = keras.Sequential([keras.Input((9,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(leaves, diseased, validation_data=(leaves, diseased), epochs=2, verbose=0)  # <- FIT003
