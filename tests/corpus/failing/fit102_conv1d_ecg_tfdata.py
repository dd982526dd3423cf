import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

FS = 100


def synth_beats(n, length=FS):
    rng = np.random.default_rng(42)
    t = np.linspace(0, 1, length)
    kinds = rng.integers(0, 2, n)
    freq = np.where(kinds == 0, 5.0, 9.0)[:, None]
    beats = np.sin(2 * np.pi * freq * t) + rng.normal(0, 0.2, (n, length))
    return beats.astype("float32"), kinds.astype("float32")


def make_ds(beats, kinds, batch):
    ds = tf.data.Dataset.from_tensor_slices((beats, kinds))  # <- FIT102
    ds = ds.shuffle(len(kinds), seed=1)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def build():
    return tf.keras.Sequential([
        layers.Conv1D(8, 7, activation="relu"),  # <~ FIT102
        layers.MaxPooling1D(2),
        layers.Conv1D(16, 5, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(1, activation="sigmoid"),
    ])


beats, kinds = synth_beats(200)
model = build()
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(make_ds(beats, kinds, 20), epochs=2, verbose=2)
