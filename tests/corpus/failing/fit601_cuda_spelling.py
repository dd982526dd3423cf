"""Moved over from PyTorch: the device is named as it was there."""
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Trainer:
    def __init__(self, device="cuda:0"):
        self.device = device
        self.model = keras.Sequential([
            keras.Input((12,)),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ])
        self.model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

    def train(self, x, y, epochs=2):
        return self.model.fit(x, y, epochs=epochs, batch_size=16, verbose=2)


def main():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(96, 12)).astype("float32")
    y = (x[:, 0] > 0).astype("float32")[:, None]
    trainer = Trainer()
    with tf.device("cuda:0"):  # <- FIT601
        trainer.train(x, y)


if __name__ == "__main__":
    main()
