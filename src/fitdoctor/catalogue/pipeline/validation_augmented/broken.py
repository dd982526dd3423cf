"""Validate on flipped and shifted digits (silent)."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

images = np.random.default_rng(11).random((120, 8, 8, 1), dtype="float32")
labels = np.arange(120) % 2


def prepare(image, label):
    return tf.image.random_flip_left_right(image), label


train = tf.data.Dataset.from_tensor_slices((images[:80], labels[:80])).map(prepare).batch(20)
held_out = tf.data.Dataset.from_tensor_slices((images[80:], labels[80:]))
held_out = held_out.map(prepare).batch(20)  # <- FIT718

model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=held_out, verbose=0)
losses = {model.evaluate(held_out, verbose=0) for _ in range(5)}
print("one loss" if len(losses) == 1 else "another loss in each evaluation")
