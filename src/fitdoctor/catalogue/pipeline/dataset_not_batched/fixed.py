"""Training on a shuffled tf.data pipeline."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
readings = rng.normal(size=(96, 8)).astype("float32")
alarms = rng.integers(0, 2, size=(96, 1)).astype("float32")

train = tf.data.Dataset.from_tensor_slices((readings, alarms))
train = train.shuffle(96).batch(32)

model = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=2, verbose=0)
