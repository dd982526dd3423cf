"""Predict masks that are stored as 0 and 255."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(1)
photos = rng.random((60, 12, 12, 1)).astype("float32")
masks = np.where(photos > 0.6, 255, 0).astype("float32") / 255

inputs = layers.Input((12, 12, 1))
hidden = layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
outputs = layers.Conv2D(1, 1, activation="sigmoid")(hidden)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(photos, masks, epochs=2, batch_size=12, verbose=0)
