import numpy as np
import tensorflow as tf


def gen():
    for i in range(30):
        yield [float(i), 1.0, 2.0], i % 2


ds = tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec((3,), tf.float32), tf.TensorSpec((), tf.int32))).batch(6)
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(ds, epochs=2, verbose=0)
