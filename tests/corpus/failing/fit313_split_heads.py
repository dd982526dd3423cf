import keras
import numpy as np
import tensorflow as tf


class MultiHead(keras.layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.dim, self.heads = dim, heads
        self.qkv = keras.layers.Dense(3 * dim)
        self.out = keras.layers.Dense(dim)

    def split(self, t, length):
        t = tf.reshape(t, (tf.shape(t)[0], length, self.heads, self.dim))  # <- FIT313
        return tf.transpose(t, (0, 2, 1, 3))

    def call(self, x):
        length = x.shape[1]
        q, k, v = [self.split(t, length) for t in tf.split(self.qkv(x), 3, axis=-1)]
        scale = tf.sqrt(tf.cast(self.dim // self.heads, x.dtype))
        att = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / scale, axis=-1)
        y = tf.transpose(tf.matmul(att, v), (0, 2, 1, 3))
        return self.out(tf.reshape(y, (-1, length, self.dim)))


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(140, 10, 6)).astype("float32")
    y = x.max(axis=(1, 2)).astype("float32")
    inputs = keras.Input((10, 6))
    h = keras.layers.Dense(16)(inputs)
    h = keras.layers.Add()([h, MultiHead(16, 4)(h)])
    h = keras.layers.GlobalMaxPooling1D()(h)
    model = keras.Model(inputs, keras.layers.Dense(1)(h))
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, batch_size=20, verbose=2)


main()
