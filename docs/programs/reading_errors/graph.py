"""The message is `Graph execution error:` and a stack of library frames. The real message is near the end, above the line
that begins with `[[{{node`. The stack shows where the operation was *defined*, not where the value came from.

`Received a label value of 10 which is outside the valid range of [0, 10)` | labels that start at 1, or too few units
"""

import keras
import numpy as np


def make_labels():
    return np.arange(1, 11)


model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
try:
    model.fit(np.zeros((10, 3)), make_labels(), verbose=0)
except Exception as error:
    lines = str(error).split("\n")
assert lines[0] == "Graph execution error:"
last = next(number for number, line in enumerate(lines) if line.strip().startswith("[[{{node"))
assert "Received a label value of 10 which is outside the valid range of [0, 10)" in lines[last - 1]
frames = [line for line in lines if line.lstrip().startswith("File ")]
assert sum("site-packages" in frame for frame in frames) > 5
assert "sparse_categorical_crossentropy" in frames[-1] and not any("make_labels" in frame for frame in frames)
