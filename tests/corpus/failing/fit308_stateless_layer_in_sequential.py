import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Layer, Dense, Input


class FourierFeatures(Layer):
    def __init__(self, n_freq):  # <- FIT308
        self.n_freq = n_freq  # <~ FIT308

    def call(self, x):
        parts = [x]
        for k in range(self.n_freq):
            parts.append(tf.sin(2.0 ** k * x))
            parts.append(tf.cos(2.0 ** k * x))
        return tf.concat(parts, axis=-1)


def main():
    t = np.linspace(-3, 3, 256)[:, None].astype("float32")
    y = np.sin(3 * t) + 0.3 * np.cos(7 * t)
    model = tf.keras.Sequential([Input((1,)), FourierFeatures(4), Dense(32, activation="relu"), Dense(1)])
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss="mse")
    model.fit(t, y, epochs=2, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
