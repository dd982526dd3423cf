"""Names of the private Keras that a later import replaces are harmless."""

import numpy as np
from tensorflow.python.keras.layers import Dense, Input
from tensorflow.python.keras.models import Model, Sequential
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model

a = Input((4,))
model = Model(a, Dense(1)(a))
model.compile("adam", "mse")
model.fit(np.random.rand(16, 4), np.random.rand(16, 1), verbose=0)
