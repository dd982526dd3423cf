"""Word vectors without a row for the padding, in a layer that counts it."""

import numpy as np
from keras import Input, Model, layers

WORDS, SIZE, LENGTH = 90, 16, 12
vectors = np.random.default_rng(1).normal(size=(WORDS, SIZE))

tokens = Input((LENGTH,), dtype="int32")
embedded = layers.Embedding(WORDS + 1, SIZE, weights=[vectors])(tokens)  # <- FIT327
score = layers.Dense(1, activation="sigmoid")(layers.GlobalAveragePooling1D()(embedded))
model = Model(tokens, score)
model.compile("adam", "binary_crossentropy")
texts = np.random.default_rng(2).integers(0, WORDS, (40, LENGTH))
model.fit(texts, (texts[:, 0] > 45).astype("float32"), epochs=1, verbose=0)
