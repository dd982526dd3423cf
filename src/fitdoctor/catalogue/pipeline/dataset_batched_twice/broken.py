"""Training on a dataset from a loader that returns batches."""

import numpy as np
import tensorflow as tf


def load_gestures(count, batch_size):
    rng = np.random.default_rng(11)
    motion = rng.normal(size=(count, 20, 3)).astype("float32")
    gesture = rng.integers(0, 2, count).astype("float32")
    return tf.data.Dataset.from_tensor_slices((motion, gesture)).shuffle(count).batch(batch_size)


train = load_gestures(96, batch_size=16)
train = train.batch(16).prefetch(2)  # <- FIT702

model = tf.keras.Sequential(
    [
        tf.keras.Input((20, 3)),
        tf.keras.layers.LSTM(6),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=2, verbose=0)
