"""`ValueError: … the generator must yield at least one batch`

"Your input ran out of data"
"""

import warnings

import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
try:
    model.fit((batch for batch in ()), verbose=0)
except ValueError as error:
    assert "the generator must yield at least one batch" in str(error)
else:
    raise AssertionError("it must raise")
rows = tf.data.Dataset.from_tensor_slices((np.ones((4, 3)), np.ones((4, 1))))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(rows.batch(8, drop_remainder=True), verbose=0)
assert any("Your input ran out of data" in str(each.message) for each in caught)
