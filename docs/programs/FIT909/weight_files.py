"""`Layer count mismatch when loading weights from file. Model expected 3 layers, found 2 saved layers`

`Weight count mismatch for layer #0` or `Shape mismatch in layer #0`

`You called set_weights(weights) on layer 'dense' with a weight list of length 1, but the layer was expecting 2 weights`

`Layer dense weight shape (8, 4) is not compatible with provided weight shape (8, 5)`
"""

import tempfile
from pathlib import Path

import keras
import numpy as np

folder = Path(tempfile.mkdtemp())


def dense(*units, **options):
    return keras.Sequential([keras.Input((8,)), *(keras.layers.Dense(number, **options) for number in units)])


def raised(action):
    try:
        action()
    except ValueError as error:
        return str(error)
    return ""


path = str(folder / "two.h5")
dense(4, 1).save(path)
message = "Layer count mismatch when loading weights from file. Model expected 3 layers, found 2 saved layers"
assert message in raised(lambda: dense(4, 2, 1).load_weights(path))
assert "Weight count mismatch for layer #0" in raised(lambda: dense(4, 1, use_bias=False).load_weights(path))
assert "Shape mismatch in layer #0" in raised(lambda: dense(5, 1).load_weights(path))
layer = keras.layers.Dense(4, name="dense")
layer.build((None, 8))
message = raised(lambda: layer.set_weights([np.zeros((8, 4))]))
assert "with a weight list of length 1, but the layer was expecting 2 weights" in message
message = raised(lambda: layer.set_weights([np.zeros((8, 5)), np.zeros(4)]))
assert "Layer dense weight shape (8, 4) is not compatible with provided weight shape (8, 5)" in message
