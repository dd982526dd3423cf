import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

class SplitHeads(layers.Layer):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def call(self, x):
        b = tf.shape(x)[0]
        return tf.reshape(x, (b, -1, self.heads, x.shape[-1] // self.heads))

inp = layers.Input((6, 32))
h = SplitHeads(4)(inp)
out = layers.Dense(1)(layers.GlobalAveragePooling2D()(h))
m = tf.keras.Model(inp, out)
m.compile("adam", "mse")
m.fit(np.random.rand(7, 6, 32), np.random.rand(7), batch_size=7, epochs=1, verbose=0)
