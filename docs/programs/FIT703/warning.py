"""When the data ends, Keras ends the epoch, warns "Your input ran out of data" and restarts the dataset."""

import warnings

import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
rows = tf.data.Dataset.from_tensor_slices((np.ones((12, 3)), np.ones((12, 1)))).batch(4)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    losses = model.fit(rows, epochs=2, steps_per_epoch=5, verbose=0).history["loss"]
assert any("Your input ran out of data" in str(each.message) for each in caught)
assert losses[1] < losses[0]  # the second epoch has data again
