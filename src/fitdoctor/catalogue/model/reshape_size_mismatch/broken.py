import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(2)
codes = rng.normal(size=(80, 6)).astype("float32")
tiles = rng.random((80, 8, 8, 1)).astype("float32")

decoder = keras.Sequential([keras.Input((6,)), layers.Dense(4 * 4 * 8, activation="relu")])
decoder.add(layers.Reshape((4, 4, 16)))  # <- FIT313
decoder.add(layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"))
decoder.compile(optimizer="adam", loss="mse")
decoder.fit(codes, tiles, epochs=2, batch_size=16, verbose=0)
