"""nested lists as data | NumPy arrays

a generator that yields lists | tuples: `(inputs, labels)`
"""

import keras
import numpy as np
import tf_keras


def trains(package, *data):
    model = package.Sequential([package.layers.Dense(1)])
    model.compile("sgd", "mse")
    try:
        model.fit(*data, verbose=0, steps_per_epoch=2)
    except Exception:
        return False
    return True


def generator(pair):
    while True:
        yield pair((np.ones((4, 2)), np.ones((4, 1))))


lists = [[0, 0], [0, 1]], [[0], [1]]
assert not trains(keras, *lists)
assert trains(keras, *map(np.array, lists)) and trains(tf_keras, *lists)
assert not trains(keras, generator(list))
assert trains(keras, generator(tuple)) and trains(tf_keras, generator(list))
