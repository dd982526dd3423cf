import keras
import numpy as np
import tensorflow as tf
from keras import layers


class PositionalEncoding(layers.Layer):
    """Sinusoids, computed on the first call and kept."""

    def __init__(self, dim, **kwargs):
        super().__init__(**kwargs)
        self.dim = dim
        self.table = None

    def _make(self, length):
        pos = tf.cast(tf.range(length)[:, None], "float32")
        rate = tf.pow(10000.0, -tf.range(0, self.dim, 2, dtype="float32") / self.dim)
        return tf.concat([tf.sin(pos * rate), tf.cos(pos * rate)], axis=-1)[None]

    def call(self, x):
        if self.table is None:  # <~ FIT401
            self.table = self._make(tf.shape(x)[1])  # <- FIT401
        return x + self.table


class Classifier(keras.Model):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = layers.Embedding(vocab, dim)
        self.pos = PositionalEncoding(dim)
        self.att = layers.MultiHeadAttention(2, dim // 2)
        self.pool = layers.GlobalAveragePooling1D()
        self.out = layers.Dense(1, activation="sigmoid")

    def call(self, tokens):
        h = self.pos(self.emb(tokens))
        return self.out(self.pool(h + self.att(h, h)))


def main():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 50, (160, 12))
    label = (tokens[:, 0] > tokens[:, -1]).astype("float32")
    model = Classifier(50, 16)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(tokens, label, validation_split=0.2, epochs=2, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
