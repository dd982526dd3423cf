import numpy as np
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential


def batch_generator(X, y, batch_size):
    n_batches = len(X) // batch_size
    while True:
        for b in range(n_batches):
            part = slice(b * batch_size, (b + 1) * batch_size)
            yield [X[part], y[part]]  # <- FIT707


rng = np.random.RandomState(0)
X = rng.randn(160, 7).astype("float32")
y = (X[:, 0] > X[:, 1]).astype("float32")

model = Sequential()
model.add(Input((7,)))
model.add(Dense(14, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(batch_generator(X, y, 16), steps_per_epoch=10, epochs=2, verbose=2)
