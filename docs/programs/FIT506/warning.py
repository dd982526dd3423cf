"""Keras warns once, `Gradients do not exist for variables [...]`."""

import warnings

import keras
import numpy as np

inputs = keras.Input((3,))
cut = keras.layers.Lambda(keras.ops.stop_gradient)(keras.layers.Dense(2, name="cut")(inputs))
model = keras.Model(inputs, keras.layers.Dense(1)(cut))
model.compile("sgd", "mse")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(np.ones((4, 3)), np.ones((4, 1)), epochs=3, verbose=0)
texts = [str(each.message) for each in caught]
assert sum(text.startswith("Gradients do not exist for variables [") for text in texts) == 1
