import numpy as np
import tensorflow as tf

VOCAB, LENGTH = 200, 12


def load(n=180):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, n)
    ids = rng.integers(1, VOCAB // 2, (n, LENGTH)) + (VOCAB // 2 - 1) * label[:, None]
    return ids.astype("int32"), label.astype("float32")


def preprocess(ids, label):
    return tf.cast(ids, tf.float32) / VOCAB, label  # <- FIT115


def make_ds(batch=18):
    return tf.data.Dataset.from_tensor_slices(load()).map(preprocess).shuffle(180).batch(batch)


class BagOfWords(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(VOCAB, 8)
        self.pool = tf.keras.layers.GlobalAveragePooling1D()
        self.out = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, ids):
        return self.out(self.pool(self.emb(ids)))


model = BagOfWords()
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(make_ds(), epochs=2, verbose=2)
