import numpy as np
import keras
from keras import layers

TAGS, VOCAB, MAXLEN = 4, 50, 12


def tagged(n=120):
    rng = np.random.default_rng(1)
    words = np.zeros((n, MAXLEN), dtype="int32")
    for row in words:
        k = rng.integers(4, MAXLEN + 1)
        row[:k] = rng.integers(1, VOCAB, k)
    return words, words % TAGS, (words > 0).astype("float32")


words, tags, weight = tagged()            # weight 0 on the padding
model = keras.Sequential([
    layers.Embedding(VOCAB, 8),
    layers.Bidirectional(layers.LSTM(8, return_sequences=True)),
    layers.Dense(TAGS, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
model.fit(words, tags, sample_weight=weight, epochs=2, batch_size=12, verbose=2)
