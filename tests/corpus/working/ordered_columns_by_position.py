"""An OrderedDict in the order of the inputs, and one for a model with a list of inputs."""

from collections import OrderedDict

import keras
import numpy as np

rng = np.random.default_rng(5)
columns = OrderedDict((name, rng.normal(size=(64, 1))) for name in ("weight", "age", "height"))
target = columns["age"] * 2 + columns["height"]


def build(inputs):
    return keras.layers.Dense(1)(keras.layers.Concatenate()(inputs))


inputs = [keras.Input((1,), name=name) for name in ("age", "height", "weight")]
by_name = keras.Model(inputs, build(inputs))
by_name.compile("adam", "mse")
by_name.fit(columns, target, epochs=1, verbose=0)

same_order = OrderedDict((name, keras.Input((1,), name=name)) for name in columns)
ordered = keras.Model(same_order, build([same_order[name] for name in columns]))
ordered.compile("adam", "mse")
ordered.fit(columns, target, epochs=1, verbose=0)
