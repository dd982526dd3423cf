import numpy as np
from tensorflow import keras

rng = np.random.default_rng(8)
x = rng.random((64, 4, 4)).astype("float32")
y = rng.integers(1, 4, size=64)

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["acc"])
model.fit(x, y, epochs=1, verbose=0)
late = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3, activation="softmax")])
late.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
late.fit(x.reshape(-1, 16), y, epochs=1, verbose=0)
