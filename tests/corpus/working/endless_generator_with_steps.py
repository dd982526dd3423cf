import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential


def stream(seed, batch=16):
    rng = np.random.default_rng(seed)
    while True:
        x = rng.normal(size=(batch, 6))
        yield x, (x[:, 0] - x[:, 1] > 0).astype(int)


model = Sequential([Input((6,)), Dense(10, activation="relu"), Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(stream(0), steps_per_epoch=12, epochs=2, validation_data=stream(1), validation_steps=3, verbose=2)
