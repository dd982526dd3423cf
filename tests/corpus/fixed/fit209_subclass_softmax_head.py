import numpy as np
import keras
import tensorflow as tf


class SentimentModel(keras.Model):
    def __init__(self, vocab_size, dim=8):
        super().__init__()
        self.embedding = keras.layers.Embedding(vocab_size, dim)
        self.rnn = keras.layers.GRU(8)
        self.classifier = keras.layers.Dense(1, activation=tf.nn.sigmoid)

    def call(self, tokens):
        x = self.embedding(tokens)
        x = self.rnn(x)
        return self.classifier(x)


def reviews(n=160, vocab_size=90, length=11):
    rng = np.random.default_rng(0)
    positive = rng.integers(0, 2, n)
    tokens = rng.integers(0, vocab_size // 2, (n, length)) + positive[:, None] * (vocab_size // 2)
    return tokens, positive


tokens, positive = reviews()
model = SentimentModel(90)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(tokens, positive, epochs=2, batch_size=16, verbose=2)
