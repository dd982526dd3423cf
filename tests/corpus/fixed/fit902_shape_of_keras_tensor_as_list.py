"""The encoder's last shape is read as Keras 3 gives it, to build the decoder from it."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(2)
digits = rng.random((32, 8, 8, 1)).astype("float32")

inputs = keras.Input((8, 8, 1))
features = keras.layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")(inputs)
shape = list(features.shape)
code = keras.layers.Dense(6)(keras.layers.Flatten()(features))

wide = keras.layers.Dense(shape[1] * shape[2] * shape[3], activation="relu")(code)
square = keras.layers.Reshape(shape[1:])(wide)
outputs = keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(square)

model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(digits, digits, epochs=1, verbose=0)
