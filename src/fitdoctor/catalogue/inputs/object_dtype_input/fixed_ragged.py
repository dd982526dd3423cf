"""Train on rows of different lengths."""

import keras
import numpy as np

rng = np.random.default_rng(2)
visits = [[3, 7, 7], [12, 5], [9, 1, 4, 2]] * 20
returned = rng.integers(0, 2, size=60)
pages = keras.utils.pad_sequences(visits, maxlen=8)

model = keras.Sequential([
    keras.Input((8,), dtype="int32"),
    keras.layers.Embedding(40, 8, mask_zero=True),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(pages, returned, epochs=1, verbose=0)
