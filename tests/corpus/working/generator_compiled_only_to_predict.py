"""A GAN whose generator is compiled with the discriminator's loss but only predicts."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(5)
real = rng.uniform(-1, 1, size=(64, 6)).astype("float32")

generator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(6, activation="tanh")])
generator.compile(loss="binary_crossentropy", optimizer="sgd")
discriminator = keras.Sequential(
    [keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
discriminator.compile(loss="binary_crossentropy", optimizer="sgd")

noise = rng.normal(size=(64, 3)).astype("float32")
fake = generator.predict(noise, verbose=0)
x = np.concatenate([real, fake])
y = np.concatenate([np.ones((64, 1)), np.zeros((64, 1))]).astype("float32")
discriminator.fit(x, y, verbose=0)
