import keras
import numpy as np
import tensorflow as tf

tf.config.set_soft_device_placement(False)  # <~ FIT601


class TwoDeviceNet(keras.Model):
    """First half on one device, second half on another."""

    def __init__(self, first="/CPU:0", second="/GPU:1"):  # <- FIT601
        super().__init__()
        self.first, self.second = first, second
        self.a = keras.layers.Dense(32, activation="relu")
        self.b = keras.layers.Dense(1)

    def call(self, x):
        with tf.device(self.first):
            h = self.a(x)
        with tf.device(self.second):  # <~ FIT601
            return self.b(h)


def main():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(160, 8)).astype("float32")
    y = x.max(axis=1)
    net = TwoDeviceNet()
    net.compile("adam", "mse")
    net.fit(x, y, epochs=1, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
