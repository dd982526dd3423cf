import numpy as np
import tensorflow as tf

LENGTH = 32


def waves():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, LENGTH)
    for i in range(160):
        kind = i % 2
        yield (np.sin(2 * np.pi * (3 + 4 * kind) * t) + rng.normal(0, 0.2, LENGTH)).astype("float32")[:, None], kind


def make_ds(batch):
    ds = tf.data.Dataset.from_generator(
        waves,
        output_signature=(tf.TensorSpec((LENGTH, 1), tf.float32), tf.TensorSpec((), tf.int32)),
    )
    return ds.cache().shuffle(160).batch(batch).prefetch(tf.data.AUTOTUNE)


model = tf.keras.Sequential([
    tf.keras.layers.Conv1D(8, 5, activation="relu"),
    tf.keras.layers.GlobalMaxPooling1D(),
    tf.keras.layers.Dense(2),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(make_ds(16), epochs=2, verbose=2)
