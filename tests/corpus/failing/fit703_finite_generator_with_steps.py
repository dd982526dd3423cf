import numpy as np
import keras

x = np.random.rand(200, 6).astype("float32")
y = np.random.rand(200, 1).astype("float32")


def minibatches(x, y, size):
    for start in range(0, len(x), size):  # <- FIT703
        yield x[start:start + size], y[start:start + size]


model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(minibatches(x, y, 20), steps_per_epoch=10, epochs=5)  # <~ FIT703
