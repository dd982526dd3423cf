"""The signature declares three parts in a row, the generator yields pairs of inputs."""

import numpy as np
import tensorflow as tf


def gen():
    for _ in range(40):
        yield (np.random.rand(6).astype("float32"), np.random.rand(3).astype("float32")), np.float32(0.0)


ds = tf.data.Dataset.from_generator(
    gen,
    output_signature=(  # <- FIT706
        tf.TensorSpec((6,), tf.float32),
        tf.TensorSpec((3,), tf.float32),
        tf.TensorSpec((), tf.float32),
    ),
).batch(8)
a = tf.keras.Input((6,))
b = tf.keras.Input((3,))
out = tf.keras.layers.Dense(1)(tf.keras.layers.Concatenate()([a, b]))
model = tf.keras.Model([a, b], out)
model.compile("adam", "mse")
model.fit(ds, epochs=1, verbose=0)
