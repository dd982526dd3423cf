"""Augmentations in a registry; the pipeline applies those that are listed."""
import random

import numpy as np
import tensorflow as tf

OPS = {}


def augmentation(function):
    OPS[function.__name__] = function
    return function


@augmentation
def brightness(image):
    return image + tf.random.uniform([], -0.3, 0.3)


@augmentation
def flip(image):
    return tf.image.random_flip_left_right(image)


def augmenter(names):
    steps = [OPS[name] for name in names]

    def apply(image, label):
        for step in steps:
            image = step(image)
        return image, label

    return apply


rng = np.random.default_rng(1)
labels = rng.integers(0, 3, 60)
images = rng.random((60, 8, 8, 3)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((images, labels)).map(augmenter(["brightness", "flip"])).batch(20)
model = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=2, verbose=0)
