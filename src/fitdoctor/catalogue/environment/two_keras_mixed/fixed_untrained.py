"""A Keras 2 model with Keras 2 layers."""

import numpy as np
import tf_keras
from tf_keras import layers

inputs = tf_keras.Input(shape=(12,))
hidden = layers.Dense(8, activation="relu")(inputs)
model = tf_keras.Model(inputs, layers.Dense(1)(hidden))
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(29).normal(size=(32, 12)).astype("float32")
model.fit(x, x[:, :1], epochs=1, verbose=0)
