import numpy as np
import tensorflow as tf


class TextNet:
    """Embedding -> average -> GRU -> sentiment."""

    def __init__(self, vocab_size=200, emb=16, maxlen=25):
        self.vocab_size, self.emb, self.maxlen = vocab_size, emb, maxlen

    def build(self):
        tokens = tf.keras.Input((self.maxlen,), dtype="int32")
        h = tf.keras.layers.Embedding(self.vocab_size, self.emb)(tokens)
        h = tf.keras.layers.GlobalAveragePooling1D()(h)  # <- FIT304
        h = tf.keras.layers.GRU(16)(h)  # <~ FIT304
        out = tf.keras.layers.Dense(1, activation="sigmoid")(h)
        model = tf.keras.Model(tokens, out)
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        return model


rng = np.random.default_rng(2)
reviews = rng.integers(1, 200, size=(200, 25))
positive = (reviews > 120).mean(axis=1) > 0.4

model = TextNet().build()
model.fit(reviews, positive.astype("float32"), epochs=2, batch_size=32, verbose=2)
