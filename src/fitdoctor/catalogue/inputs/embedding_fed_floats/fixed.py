"""Train an Embedding on word ids."""

import keras
import numpy as np

rng = np.random.default_rng(7)
words = rng.integers(0, 50, size=(80, 6))
praise = (words[:, 0] > 25).astype("float32")

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Embedding(50, 8),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(words, praise, epochs=1, verbose=0)
