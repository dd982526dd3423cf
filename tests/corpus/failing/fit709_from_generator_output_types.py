import numpy as np
import tensorflow as tf


def clips():
    rng = np.random.default_rng(0)
    for i in range(80):
        clip = rng.random((10, 10, 3)).astype("float32") * 0.5
        clip[..., i % 2] += 0.4
        yield clip, np.float32(i % 2)


ds = tf.data.Dataset.from_generator(clips, output_types=(tf.float32, tf.float32))  # <- FIT709
ds = ds.shuffle(80).batch(8)

model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(6, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
