import keras
import numpy as np
from keras import layers


class TextCNN(keras.Model):
    def __init__(self, vocab, n_topics, dim=16):
        super().__init__()
        self.emb = layers.Embedding(vocab, dim)
        self.conv = layers.Conv1D(16, 3, activation="relu")
        self.pool = layers.GlobalMaxPooling1D()
        self.out = layers.Dense(n_topics, activation="softmax")

    def call(self, ids):
        return self.out(self.pool(self.conv(self.emb(ids))))


def topics_dataset(n=200, vocab=120, n_topics=4, length=18):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_topics, n)
    block = vocab // n_topics
    ids = rng.integers(0, block, (n, length)) + (y * block)[:, None]
    return ids, y


def main():
    ids, y = topics_dataset()
    model = TextCNN(120, 4)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(ids, y, epochs=2, batch_size=20, verbose=2)


if __name__ == "__main__":
    main()
