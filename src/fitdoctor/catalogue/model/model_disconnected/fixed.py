import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)
numbers = rng.normal(size=(120, 5)).astype("float32")
kinds = np.eye(3, dtype="float32")[rng.integers(0, 3, 120)]
price = numbers[:, 0] + kinds @ np.array([0.0, 1.0, 2.0])

number_input = keras.Input((5,), name="numbers")
kind_input = keras.Input((3,), name="kinds")
left = layers.Dense(8, activation="relu")(number_input)
right = layers.Dense(8, activation="relu")(kind_input)
output = layers.Dense(1)(layers.Concatenate()([left, right]))

model = keras.Model([number_input, kind_input], output)
model.compile(optimizer="adam", loss="mse")
model.fit([numbers, kinds], price, epochs=1, verbose=0)
