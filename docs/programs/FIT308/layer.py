"""`'Scale' object has no attribute 'name'` when it is added to a `Sequential`

`RuntimeError: In layer 'Scale', you forgot to call super().__init__()` when it is called
"""

import keras
import numpy as np


class Scale(keras.layers.Layer):
    def __init__(self):
        self.factor = 2.0

    def call(self, inputs):
        return inputs * self.factor


def raised(action):
    try:
        action()
    except (AttributeError, RuntimeError) as error:
        return str(error)
    return ""


added = raised(lambda: keras.Sequential([keras.layers.Dense(1), Scale()]))
assert added == "'Scale' object has no attribute 'name'"
called = raised(lambda: Scale()(np.ones(3)))
assert called.startswith("In layer 'Scale', you forgot to call `super().__init__()`")
