"""The cosine of two encodings in a Lambda layer, with functions of the backend that Keras 3 does not have."""

import numpy as np
from keras import Input, Model, layers
from keras import backend as K


def cosine(encodings):
    first, second = encodings
    first = K.l2_normalize(first, axis=-1)  # <- FIT902
    second = K.l2_normalize(second, axis=-1)
    return K.sum(first * second, axis=-1, keepdims=True)


left, right = Input((10,)), Input((10,))
encode = layers.Dense(6)
model = Model([left, right], layers.Lambda(cosine)([encode(left), encode(right)]))
model.compile("adam", "mse")
model.fit([np.random.rand(20, 10), np.random.rand(20, 10)], np.random.rand(20), verbose=0)
