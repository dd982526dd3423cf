"""Old arguments stand where an old Keras was found, by names that were made of its version; a wrapper built without a shape."""

import numpy as np

import keras
from keras import __version__ as found

MAJOR = int(keras.__version__.split(".")[0])
KERAS_3 = MAJOR >= 3
OLD = not hasattr(keras, "ops")


class Scaled(keras.layers.Wrapper):
    def build(self, input_shape=None):
        self.layer.build(input_shape)
        self.layer.built = True
        self.scale = self.add_weight(shape=(1,), initializer="ones", name="scale")
        super().build()

    def call(self, x):
        return self.layer(x) * self.scale


if KERAS_3:
    optimizer = keras.optimizers.SGD(learning_rate=0.1)
else:
    optimizer = keras.optimizers.SGD(lr=0.1)
if found.startswith("2"):
    other = keras.optimizers.Adam(lr=0.01, decay=1e-6)
else:
    other = keras.optimizers.Adam(0.01)
third = keras.optimizers.Adam(lr=0.1) if OLD else keras.optimizers.Adam(0.1)

x = np.random.rand(32, 4)
for chosen in (optimizer, other, third):
    model = keras.Sequential([keras.Input((4,)), Scaled(keras.layers.Dense(3)), keras.layers.Dense(1)])
    model.compile(chosen, "mse")
    model.fit(x, x.sum(axis=1), epochs=1, verbose=0)
