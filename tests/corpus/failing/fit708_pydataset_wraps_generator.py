import numpy as np
import keras
import time


def read_shards(n_batches=200, batch=16):
    rng = np.random.default_rng(0)
    for _ in range(n_batches):
        x = rng.normal(size=(batch, 9)).astype("float32")
        time.sleep(0.005)       # reading from disk
        yield x, (x.sum(axis=1) > 0).astype("float32")


class ShardDataset(keras.utils.PyDataset):
    def __init__(self, steps, **kwargs):
        super().__init__(**kwargs)
        self.steps = steps
        self.source = read_shards()

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return next(self.source)  # <~ FIT708


model = keras.Sequential([
    keras.Input((9,)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
train = ShardDataset(40, workers=4, max_queue_size=8)  # <- FIT708
model.fit(train, epochs=2, verbose=2)
