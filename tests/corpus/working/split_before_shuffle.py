import numpy as np
import tensorflow as tf


def records(n=240):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6)).astype("float32")
    return x, (x[:, 0] > 0).astype("float32")


full = tf.data.Dataset.from_tensor_slices(records())
valid = full.take(60).batch(20)
train = full.skip(60).shuffle(180).batch(20)      # shuffled after the split

model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=valid, epochs=2, verbose=2)
