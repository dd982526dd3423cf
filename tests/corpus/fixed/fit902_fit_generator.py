import keras
import numpy as np


def batches(x, y, size):
    rng = np.random.default_rng(0)
    while True:
        idx = rng.integers(0, len(x), size)
        yield x[idx], y[idx]


def main():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(200, 4)).astype("float32")
    y = (x[:, 0] > x[:, 1]).astype("float32").reshape(-1, 1)
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(batches(x, y, 20), steps_per_epoch=10, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
