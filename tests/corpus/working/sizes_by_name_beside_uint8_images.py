"""Sizes and offsets are plain integers, also next to images in uint8: only arrays wrap around."""

import keras
import numpy as np

SIDE = 200
n_filters = 8
start = 68
image = np.random.default_rng(0).integers(0, 256, (300, 300, 3)).astype("uint8")
crop = image[start : start + SIDE, start : start + SIDE]
area = SIDE * SIDE
x = np.stack([crop[:64, :64], crop[64:128, 64:128]]).astype("float32") / 255

inputs = keras.Input((64, 64, 3))
hidden = keras.layers.Conv2D(n_filters * 32, 3, strides=4, activation="relu")(inputs)
outputs = keras.layers.Dense(1)(keras.layers.GlobalAveragePooling2D()(hidden))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(x, np.array([[0.0], [1.0]]), verbose=0)
print(area)
