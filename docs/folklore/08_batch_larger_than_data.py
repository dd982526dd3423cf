"""A batch size larger than the data raises OutOfRangeError.

`fit` trains on one short batch per epoch. Other things do lose data or fail: `batch(…, drop_remainder=True)` drops
the short batch and leaves nothing to train on (FIT705), and `steps_per_epoch` larger than the number of batches ends
training early (FIT703).
"""

import keras
import numpy as np

x, y = np.random.rand(20, 3), np.random.rand(20, 1)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, batch_size=1000, epochs=2, verbose=0)
assert model.optimizer.iterations.numpy() == 2  # one step per epoch
