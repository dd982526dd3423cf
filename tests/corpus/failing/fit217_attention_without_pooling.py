import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class EncoderBlock(layers.Layer):
    def __init__(self, dim, heads, ff):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=heads, key_dim=dim // heads)
        self.norm1 = layers.LayerNormalization()
        self.norm2 = layers.LayerNormalization()
        self.ff = tf.keras.Sequential([layers.Dense(ff, activation="relu"), layers.Dense(dim)])

    def call(self, x):
        x = self.norm1(x + self.att(x, x))
        return self.norm2(x + self.ff(x))


def sensor_windows(n=160, steps=10, channels=8):
    rng = np.random.default_rng(0)
    fault = rng.integers(0, 2, n).astype("float32")
    x = rng.normal(size=(n, steps, channels)) + 0.7 * fault[:, None, None]
    return x.astype("float32"), fault[:, None]


def build(steps=10, channels=8):
    inp = layers.Input((steps, channels))
    h = EncoderBlock(channels, 2, 16)(inp)  # <- FIT217
    h = layers.Dropout(0.1)(h)
    out = layers.Dense(1, activation="sigmoid")(h)  # <~ FIT217
    return tf.keras.Model(inp, out)


x, fault = sensor_windows()
model = build()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, fault, epochs=2, batch_size=16, verbose=2)
