import numpy as np
import tensorflow as tf


def ragged_events(n=140):
    rng = np.random.default_rng(2)
    rows, label = [], []
    for i in range(n):
        rows.append((rng.integers(1, 20, rng.integers(2, 10)) + 20 * (i % 2)).tolist())
        label.append(float(i % 2))
    return tf.ragged.constant(rows, dtype=tf.int32), np.array(label, dtype="float32")


rows, label = ragged_events()
ds = tf.data.Dataset.from_tensor_slices((rows, label)).shuffle(140)
ds = ds.batch(14).map(lambda r, t: (r.to_tensor(shape=(None, 10)), t))

inp = tf.keras.Input((10,), dtype="int32")
h = tf.keras.layers.Embedding(41, 6, mask_zero=True)(inp)
h = tf.keras.layers.GlobalAveragePooling1D()(h)
model = tf.keras.Model(inp, tf.keras.layers.Dense(1, activation="sigmoid")(h))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
