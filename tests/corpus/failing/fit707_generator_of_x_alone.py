"""An autoencoder whose generator yields the batch once."""

import numpy as np
from keras.layers import Dense, Input
from keras.models import Sequential


def batches(rows, size):
    while True:
        chosen = np.random.randint(0, len(rows), size)
        yield rows[chosen]  # <- FIT707


rows = np.random.rand(64, 10).astype("float32")
model = Sequential([Input((10,)), Dense(4, activation="relu"), Dense(10, activation="sigmoid")])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(rows, 16), steps_per_epoch=4, epochs=1, verbose=0)
