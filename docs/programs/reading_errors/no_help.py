"""`run_eagerly=True` moves the error, but does not remove it. `clear_session()` changes nothing about shapes or labels."""

import keras
import numpy as np


def raised(**options):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", **options)
    try:
        model.fit(np.zeros((8, 3)), np.full(8, 2), verbose=0)
    except Exception as error:
        return str(error)
    return ""


graph, eager = raised(), raised(run_eagerly=True)
keras.backend.clear_session()
for message in (graph, eager, raised()):
    assert "Received a label value of 2 which is outside the valid range of [0, 2)" in message
assert graph.startswith("Graph execution error") and not eager.startswith("Graph execution error")
