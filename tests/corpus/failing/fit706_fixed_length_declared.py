import numpy as np
import tensorflow as tf

samples = [(np.random.rand(np.random.randint(4, 9), 3).astype("float32"), i % 2) for i in range(40)]


def gen():
    for seq, label in samples:
        yield seq, label


ds = tf.data.Dataset.from_generator(gen, output_types=(tf.float32, tf.int32), output_shapes=((8, 3), ()))  # <- FIT706
ds = ds.padded_batch(8, padded_shapes=((8, 3), ()))
model = tf.keras.Sequential([tf.keras.Input((8, 3)), tf.keras.layers.LSTM(4), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(ds, epochs=2)
