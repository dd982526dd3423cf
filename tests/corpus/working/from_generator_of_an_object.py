import numpy as np
import tensorflow as tf


class Reader:
    def __init__(self, n):
        self.n = n
        self.calls = 0

    def __call__(self):
        self.calls += 1
        for i in range(self.n):
            yield {"a": np.ones(3), "b": np.ones((2,))}, np.array([float(i)])


reader = Reader(20)
sig = ({"a": tf.TensorSpec((3,), tf.float32), "b": tf.TensorSpec((2,), tf.float32)}, tf.TensorSpec((1,), tf.float32))
ds = tf.data.Dataset.from_generator(reader, output_signature=sig).batch(5).prefetch(tf.data.AUTOTUNE)
a = tf.keras.Input((3,), name="a")
b = tf.keras.Input((2,), name="b")
model = tf.keras.Model({"a": a, "b": b}, tf.keras.layers.Dense(1)(tf.keras.layers.concatenate([a, b])))
model.compile("adam", "mse")
model.fit(ds, epochs=2, verbose=0)
assert reader.calls == 2, reader.calls
