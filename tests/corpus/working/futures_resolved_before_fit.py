from concurrent.futures import ThreadPoolExecutor

import numpy as np
from tensorflow import keras


def shard(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).astype("float32")
    return x, (x[:, 0] > 0.2).astype("float32")


with ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(shard, s) for s in range(4)]
    parts = [j.result() for j in jobs]

x = np.concatenate([p[0] for p in parts])
y = np.concatenate([p[1] for p in parts])
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=20, verbose=2)
