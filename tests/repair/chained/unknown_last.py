import numpy as np
from tensorflow import keras

rng = np.random.default_rng(8)
x = rng.random((64, 16)).astype("float32")
y = rng.integers(1, 4, size=64)

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(lr=0.01), loss="sparse_categorical_crossentropy")
model.fit(x, y, epochs=1, verbose=0)
open("/nowhere/else.txt").read()
