"""`categorical_crossentropy` rejects labels that are not classes.

It multiplies whatever it is given. With labels from a normal distribution the loss falls, which looks like learning. Here,
with a large learning rate, it even becomes negative (FIT207).
"""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x, y = np.random.rand(200, 8), np.random.randn(200, 3)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(0.1), loss="categorical_crossentropy")
losses = model.fit(x, y, epochs=30, verbose=0).history["loss"]
assert losses[-1] < losses[0]
assert losses[-1] < 0
