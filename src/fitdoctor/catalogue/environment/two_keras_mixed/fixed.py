"""A small regression model."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense

rng = np.random.default_rng(13)
x = rng.normal(size=(64, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = tf.keras.Sequential()
model.add(tf.keras.Input((3,)))
model.add(Dense(8, activation="relu"))
model.add(Dense(1))
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
