"""With an optimizer from `optimizers.legacy`, they raise `AttributeError: 'ExponentialDecay' object has no
attribute 'dtype'`.
"""

import numpy as np
import tf_keras as keras

schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.legacy.SGD(schedule), "mse")
callback = keras.callbacks.LearningRateScheduler(lambda epoch: 0.01)
try:
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0, callbacks=[callback])
except AttributeError as error:
    assert "'ExponentialDecay' object has no attribute 'dtype'" in str(error)
else:
    raise AssertionError("it must raise")
