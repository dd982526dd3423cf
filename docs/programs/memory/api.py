import keras
import numpy as np

import fitdoctor

x, y = np.zeros((1000, 64), "float32"), np.zeros((1000, 1))
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(256), keras.layers.Dense(1)])
model.compile("adam", "mse")
# --8<-- [start:shown]
prediction = fitdoctor.memory(model, x, y, batch_size=256)
prediction.peak, prediction.needed, prediction.fits, prediction.largest_batch
print(prediction)  # what the command prints
# --8<-- [end:shown]
assert prediction.fits and prediction.largest_batch > 256 and prediction.needed > prediction.peak > 0
