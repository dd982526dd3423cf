import keras
import numpy as np
import tensorflow as tf


class EncoderBlock(keras.layers.Layer):
    def __init__(self, dim, heads, device="/device:GPU:1", **kwargs):  # <~ FIT603
        super().__init__(**kwargs)
        self.device = device
        self.att = keras.layers.MultiHeadAttention(heads, dim // heads)
        self.norm = keras.layers.LayerNormalization()

    def call(self, x):
        with tf.device(self.device):  # <- FIT603
            a = self.att(x, x)
        return self.norm(x + a)


def main(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(96, 8, 16)).astype("float32")
    y = x[:, :, 0].max(axis=1)
    inputs = keras.Input((8, 16))
    h = EncoderBlock(16, 2)(inputs)
    h = keras.layers.GlobalAveragePooling1D()(h)
    model = keras.Model(inputs, keras.layers.Dense(1)(h))
    model.compile("adam", "mse")
    model.fit(x, y, batch_size=24, epochs=1, verbose=2)


if __name__ == "__main__":
    main()
