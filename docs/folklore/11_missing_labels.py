"""A missing label raises an error in `fit`.

A NaN among the labels raises nothing. The loss is NaN from the batch that contains it, the weights become NaN with
it, and training continues to the end (FIT206).
"""

import keras
import numpy as np

x, y = np.random.rand(32, 4), np.random.rand(32, 1)
y[5] = np.nan
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
history = model.fit(x, y, epochs=2, verbose=0)
assert np.isnan(history.history["loss"]).all()
assert np.isnan(model.get_weights()[0]).all()
