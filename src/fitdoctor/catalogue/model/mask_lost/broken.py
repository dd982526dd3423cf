"""Scale embeddings in a layer that loses their mask (silent)."""

import keras
import numpy as np


class Scale(keras.layers.Layer):
    def __init__(self, factor):
        super().__init__()  # <- FIT334
        self.factor = factor

    def call(self, inputs):
        return inputs * self.factor


rng = np.random.default_rng(6)
words = rng.integers(1, 30, (64, 12))
words[:, 7:] = 0
inputs = keras.Input((12,))
embedded = keras.layers.Embedding(30, 8, mask_zero=True)(inputs)
read = keras.layers.LSTM(8)(Scale(3.0)(embedded))
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(read))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(words, rng.integers(0, 2, 64), epochs=2, verbose=0)
