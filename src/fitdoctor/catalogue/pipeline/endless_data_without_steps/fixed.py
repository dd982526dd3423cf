"""Training on a shuffled tf.data pipeline."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
pressure = rng.normal(size=(128, 5)).astype("float32")
leak = (pressure[:, :1] > 0.5).astype("float32")

train = tf.data.Dataset.from_tensor_slices((pressure, leak))
train = train.shuffle(128).batch(16)

model = tf.keras.Sequential(
    [tf.keras.Input((5,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, epochs=2, verbose=0)
