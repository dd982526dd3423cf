"""Train a generator through its discriminator (silent)."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(12)
real = rng.normal(size=(32, 4)).astype("float32")
noise = rng.normal(size=(32, 8)).astype("float32")

generator = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
judge = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
judge.compile("adam", "binary_crossentropy")
seed = keras.Input((8,))
both = keras.Model(seed, judge(generator(seed)))
both.compile("adam", "binary_crossentropy")

for _step in range(3):
    judge.train_on_batch(real, np.ones((32, 1)))
    judge.train_on_batch(generator.predict(noise, verbose=0), np.zeros((32, 1)))
    before = judge.get_weights()[0]
    both.train_on_batch(noise, np.ones((32, 1)))  # <- FIT333
    changed = np.any(before != judge.get_weights()[0])
print("the generator's step", "changes" if changed else "leaves", "the judge")
