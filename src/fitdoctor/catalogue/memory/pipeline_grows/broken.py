"""Training on an endless tf.data pipeline."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 8)).astype("float32")
y = rng.normal(size=(512, 1)).astype("float32")

rows = tf.data.Dataset.from_tensor_slices((x, y))
rows = rows.shuffle(512).repeat()
rows = rows.map(lambda features, target: (features * 2.0, target))
rows = rows.cache()  # <- FIT807
batches = rows.batch(32).prefetch(2)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(batches, steps_per_epoch=16, epochs=2, verbose=0)
