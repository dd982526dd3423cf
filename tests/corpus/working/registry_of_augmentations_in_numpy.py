"""Functions in registries that draw with Python: for arrays, through `py_function`, and a name for a log."""
import random

import numpy as np
import tensorflow as tf

OPS, NAMES = {}, {"run": lambda: f"run-{random.randint(0, 9)}"}


def augmentation(function):
    OPS[function.__name__] = function
    return function


@augmentation
def shifted(image):
    return np.roll(image, random.randint(-2, 2), axis=1)


@augmentation
def mirrored(image):
    return image[:, ::-1] if random.random() < 0.5 else image


def augment(image):
    for name in ("shifted", "mirrored"):
        image = OPS[name](image)
    return image


def traced(image, label):
    image = tf.numpy_function(augment, [image], tf.float32)
    image.set_shape((8, 8, 1))
    return image, label


def batches(images, labels, kinds):
    for image, label in zip(images, labels):
        yield OPS[random.choice(kinds)](image), label


images = np.random.default_rng(0).random((40, 8, 8, 1)).astype("float32")
labels = images.mean((1, 2))
print(NAMES["run"]())
model = tf.keras.Sequential([tf.keras.Input((8, 8, 1)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.data.Dataset.from_tensor_slices((images, labels)).map(traced).batch(10), verbose=0)
kinds = list(OPS)
drawn = tf.data.Dataset.from_generator(
    lambda: batches(images, labels, kinds),
    output_signature=(tf.TensorSpec((8, 8, 1), tf.float32), tf.TensorSpec((1,), tf.float32)),
)
model.fit(drawn.batch(10), verbose=0)
