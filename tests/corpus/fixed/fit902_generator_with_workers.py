import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input


def batches(x, y, size):
    while True:
        index = np.random.randint(0, len(x), size)
        yield x[index], y[index]


x, y = np.random.rand(64, 5), np.random.rand(64, 1)
model = Sequential([Input((5,)), Dense(8, activation="relu"), Dense(1)])
model.compile(loss="mse", optimizer="adam")
model.fit(batches(x, y, 8), steps_per_epoch=8, epochs=2, verbose=2)
