"""If the shapes of labels and predictions do not match, `fit` raises.

Not for losses that compare element by element, such as `mse`: NumPy's broadcasting rules apply. Labels of shape (100,
1) are compared with each of ten outputs, the loss falls, and the model learns one number ten times (FIT204).
"""

import keras
import numpy as np

x, y = np.random.rand(100, 4), np.random.rand(100, 1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10)])
model.compile(optimizer="sgd", loss="mse")
history = model.fit(x, y, epochs=3, verbose=0)
assert np.isfinite(history.history["loss"]).all()
