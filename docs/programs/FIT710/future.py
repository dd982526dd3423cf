"""Code before `fit` raises errors such as `AttributeError: 'Future' object has no attribute 'shape'`."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np

x = ThreadPoolExecutor().submit(np.ones, (4, 3))
try:
    keras.Input(x.shape[1:])
except AttributeError as error:
    assert "'Future' object has no attribute 'shape'" in str(error)
else:
    raise AssertionError("it must raise")
