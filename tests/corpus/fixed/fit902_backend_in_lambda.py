"""The cosine of two encodings in a Lambda layer, with functions of `keras.ops`."""

import numpy as np
from keras import Input, Model, layers
from keras import ops


def cosine(encodings):
    first, second = encodings
    first = ops.normalize(first, axis=-1)
    second = ops.normalize(second, axis=-1)
    return ops.sum(first * second, axis=-1, keepdims=True)


left, right = Input((10,)), Input((10,))
encode = layers.Dense(6)
model = Model([left, right], layers.Lambda(cosine)([encode(left), encode(right)]))
model.compile("adam", "mse")
model.fit([np.random.rand(20, 10), np.random.rand(20, 10)], np.random.rand(20), verbose=0)
