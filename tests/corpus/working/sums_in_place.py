"""`x += layer(x)` on Keras tensors passes the gradient on."""

import numpy as np
import keras
from keras import layers

a = keras.Input((8, 8, 3))
x = layers.Conv2D(4, 3, padding="same")(a)
x += layers.Conv2D(4, 3, padding="same")(x)
y = layers.Conv2D(4, 1)(x)
x *= layers.Dense(4, activation="sigmoid")(y)
x -= layers.Dense(4)(x)
x = x + layers.BatchNormalization()(x)
x /= 2.0
out = layers.Dense(1)(layers.GlobalAveragePooling2D()(x))
m = keras.Model(a, out)
m.compile("adam", "mse")
m.fit(np.random.rand(16, 8, 8, 3), np.random.rand(16, 1), verbose=0)
