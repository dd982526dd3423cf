import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(6)
table = rng.normal(size=(150, 7)).astype("float32")
color = keras.utils.to_categorical(rng.integers(0, 4, size=150))

inputs = keras.Input(shape=(6,))
h = keras.layers.Dense(12, activation="relu")(inputs)
out = keras.layers.Dense(3, activation="softmax")(h)
model = keras.Model(inputs, out)
model.compile(optimizer="adam", loss="categorical_crossentropy")
model.fit(table[:100], color[:100], validation_data=(color[100:], table[100:]), epochs=2, verbose=0)
