"""`ModuleNotFoundError: No module named 'keras.utils.np_utils'`"""

import importlib

import keras

assert keras.__version__.startswith("3")
try:
    importlib.import_module("keras.utils.np_utils")
except ModuleNotFoundError as error:
    assert "No module named 'keras.utils.np_utils'" in str(error)
else:
    raise AssertionError("it must raise")
