import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Seq2Seq(tf.keras.Model):
    def __init__(self, vocab, units):
        super().__init__()
        self.embed = layers.Embedding(vocab, units)
        self.encoder = layers.GRU(units, return_state=True)
        self.decoder = layers.GRU(units, return_sequences=True)
        self.out = layers.Dense(vocab, activation="softmax")

    def call(self, source, target):  # <- FIT321
        _, state = self.encoder(self.embed(source))
        h = self.decoder(self.embed(target), initial_state=state)
        return self.out(h)


def reversed_pairs(n, length, vocab):
    rng = np.random.default_rng(0)
    src = rng.integers(1, vocab, (n, length))
    tgt = src[:, ::-1]
    dec_in = np.concatenate([np.zeros((n, 1), int), tgt[:, :-1]], axis=1)
    return src, dec_in, tgt


src, dec_in, tgt = reversed_pairs(120, 6, 15)
model = Seq2Seq(15, 16)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit((src, dec_in), tgt, epochs=1, batch_size=20, verbose=2)
