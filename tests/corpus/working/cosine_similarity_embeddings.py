import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
source = rng.normal(size=(200, 10)).astype("float32")
target = source @ rng.normal(size=(10, 6)).astype("float32")
target /= np.linalg.norm(target, axis=1, keepdims=True)

inp = keras.Input((10,))
out = layers.UnitNormalization(axis=-1)(layers.Dense(6)(inp))
mapper = keras.Model(inp, out)
mapper.compile(optimizer="adam", loss=keras.losses.CosineSimilarity())      # runs from 1 down to -1
mapper.fit(source, target, epochs=3, batch_size=20, verbose=2)
