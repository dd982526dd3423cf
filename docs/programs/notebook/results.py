import keras
import numpy as np

import fitdoctor

x, y = np.zeros((100, 8), "float32"), np.zeros((99, 1))
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
try:
    model.fit(x, y)
except ValueError as error:
    import sys

    sys.last_value, sys.last_exc = error, error
# --8<-- [start:shown]
fitdoctor.explain()  # explains the last exception, after the fact
fitdoctor.check(model, x, y)  # takes what `fit` takes
fitdoctor.memory(model, batch_size=256)
# --8<-- [end:shown]
assert fitdoctor.explain().findings[0].id == fitdoctor.check(model, x, y).findings[0].id == "FIT108"
