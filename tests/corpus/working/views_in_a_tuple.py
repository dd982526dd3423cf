"""Augmented views in a tuple, gone through in the next stage."""

import numpy as np
import tensorflow as tf

images = np.random.rand(32, 8, 8, 3).astype("float32")
boxes = np.random.rand(32, 4).astype("float32")
labels = np.random.randint(0, 3, 32)


class Views:
    def __init__(self, n):
        self.n = n

    def __call__(self, image, label):
        views = [tf.image.random_flip_left_right(image) for _ in range(self.n)]
        return tuple(views), label


def normalise(views, label):
    result = []
    for view in views:
        result.append(view / 2.0)
    return result[0], label


ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(Views(2)).map(normalise).batch(8)
m = tf.keras.Sequential(
    [tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax")]
)
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(ds, verbose=0)


def crop_all(views, label):
    views = tf.nest.map_structure(lambda v: v * 1.0, views)
    if len(views) > 1:
        first, *rest = views
        for r in rest:
            first = first + r
    else:
        first = views[0]
    return first, label


ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(Views(2)).map(crop_all).batch(8)
m.fit(ds, verbose=0)


def unpack(features, label):
    new = {name: tensor for name, tensor in features.items()}
    new["image"] = tf.cast(new["image"], tf.float32)
    for name in features:
        if name != "image":
            new.pop(name)
    return new["image"], label


ds = tf.data.Dataset.from_tensor_slices(({"image": images, "box": boxes}, labels)).map(unpack).batch(8)
m.fit(ds, verbose=0)
