import keras
import numpy as np
import tensorflow as tf
from keras import layers


class ImageWithMeta(keras.Model):
    """Small CNN whose features are joined with tabular metadata."""

    def __init__(self, n_classes):
        super().__init__()
        self.conv = layers.Conv2D(8, 3, activation="relu")
        self.pool = layers.GlobalAveragePooling2D()
        self.meta = layers.Dense(8, activation="relu")
        self.join = layers.Concatenate()
        self.out = layers.Dense(n_classes, activation="softmax")

    def call(self, inputs, training=None):
        image, meta = inputs
        h = self.pool(self.conv(image))
        return self.out(self.join([h, self.meta(meta)]))


def dataset(n, batch):
    rng = np.random.default_rng(0)
    images = rng.random((n, 10, 10, 1)).astype("float32") * 0.5
    meta = rng.normal(size=(n, 3)).astype("float32")
    labels = (meta[:, 0] > 0).astype("int32")
    images[labels == 1] += 0.4
    return tf.data.Dataset.from_tensor_slices(((images, meta), labels)).batch(batch)


model = ImageWithMeta(2)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(dataset(96, 16), epochs=1, verbose=2)
