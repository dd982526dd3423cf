import numpy as np
import tensorflow as tf


def gen():
    rng = np.random.default_rng(1)
    for i in range(30):
        yield rng.normal(size=4), float(i % 3)


ds = tf.data.Dataset.from_generator(gen, output_types=(tf.float32, tf.int64), output_shapes=((4,), ())).shuffle(10).batch(5)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(ds, epochs=2, verbose=0)
