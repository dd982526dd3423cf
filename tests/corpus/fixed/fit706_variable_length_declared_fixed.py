import numpy as np
import keras
import tensorflow as tf

MAX_LEN = 16
VOCAB = 60


class SentenceStream:
    def __init__(self, n=120, seed=0):
        self.n, self.seed = n, seed

    def __call__(self):
        rng = np.random.default_rng(self.seed)
        for _ in range(self.n):
            label = int(rng.integers(0, 2))
            length = int(rng.integers(4, MAX_LEN))
            ids = rng.integers(1, VOCAB // 2, length) + label * VOCAB // 2
            yield np.pad(ids, (0, MAX_LEN - length)).astype("int32"), label

    def dataset(self, batch):
        ds = tf.data.Dataset.from_generator(
            self,
            output_signature=(
                tf.TensorSpec((MAX_LEN,), tf.int32),
                tf.TensorSpec((), tf.int32),
            ),
        )
        return ds.batch(batch)


model = keras.Sequential([
    keras.layers.Embedding(VOCAB + 1, 8, mask_zero=True),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(SentenceStream().dataset(12), epochs=2, verbose=2)
