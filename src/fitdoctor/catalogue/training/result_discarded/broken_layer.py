"""Pool the output of the first convolution (silent)."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

x = np.random.default_rng(9).random((32, 12, 12, 1), dtype="float32")
y = np.arange(32) % 2

inputs = keras.Input((12, 12, 1))
t = layers.Conv2D(4, 3, activation="relu")(inputs)
t = layers.MaxPooling2D()(t)
t = layers.Conv2D(8, 3, activation="relu")(inputs)  # <- FIT004
t = layers.GlobalAveragePooling2D()(t)
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(t))
model.compile("adam", "binary_crossentropy")
model.fit(x, y, verbose=0)
print(len(model.layers), "layers")
