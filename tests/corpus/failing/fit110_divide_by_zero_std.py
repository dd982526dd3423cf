import numpy as np
import tensorflow as tf


def spectra(n, bins=20):
    rng = np.random.default_rng(13)
    kind = rng.integers(0, 3, n)
    s = rng.gamma(2.0, 0.2, (n, bins))
    for k in range(3):
        s[kind == k, 3 + 5 * k:6 + 5 * k] += 1.0
    s[:, -1] = 0.0          # dead detector channel
    return s.astype("float32"), kind


def standardise(s):
    mean, std = s.mean(axis=0), s.std(axis=0)
    return (s - mean) / std  # <- FIT110


def make_dataset(s, kind):
    return tf.data.Dataset.from_tensor_slices((s, kind)).shuffle(len(kind)).batch(25)


s, kind = spectra(200)
ds = make_dataset(standardise(s), kind)

inputs = tf.keras.Input((s.shape[1],))
h = tf.keras.layers.Dense(24, activation="selu")(inputs)
outputs = tf.keras.layers.Dense(3, activation="softmax")(h)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
