import argparse

import keras
import numpy as np
from keras import layers, optimizers


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--batch-size", type=int, default=32)
    return p.parse_args()


def load_spectra(n=240, bins=40, seed=3):
    """Synthetic spectra: two peaks, class = which peak is higher."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, bins)
    a, b = rng.uniform(0.2, 1.0, (2, n, 1))
    spectra = a * np.exp(-((grid - 0.3) ** 2) / 0.01) + b * np.exp(-((grid - 0.7) ** 2) / 0.01)
    return spectra.astype("float32"), (a > b)[:, 0].astype("int32")


def main():
    args = parse_args()
    x, y = load_spectra()
    inputs = keras.Input((x.shape[1],))
    h = layers.Dense(32, activation="relu")(inputs)
    outputs = layers.Dense(2, activation="softmax")(h)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=optimizers.Adam(args.lr), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        x,
        y,
        epochs=args.epochs,
        batch_size=args.batch_size,
        validation_split=0.2,
        verbose=2,
    )


if __name__ == "__main__":
    main()
