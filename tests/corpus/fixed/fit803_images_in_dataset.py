import keras
import numpy as np
import tensorflow as tf
from keras import layers


def render(n, size, rng):
    imgs = rng.random((n, size, size, 3), dtype="float32") * 0.5
    labels = rng.integers(0, 3, n)
    imgs[np.arange(n), :, :, labels] += 0.5
    return imgs, labels


class Data:
    def __init__(self, n=6000, size=64, batch=50):
        self.images, self.labels = render(n, size, np.random.default_rng(2))
        self.batch = batch

    def train(self):
        def rows():
            for i in np.random.default_rng(0).permutation(len(self.images)):
                yield self.images[i], self.labels[i]

        spec = (tf.TensorSpec((64, 64, 3), tf.float32), tf.TensorSpec((), tf.int64))
        return tf.data.Dataset.from_generator(rows, output_signature=spec).batch(self.batch)


model = keras.Sequential([
    keras.Input((64, 64, 3)),
    layers.Conv2D(4, 5, strides=4, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(3, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(Data().train(), epochs=1, verbose=2)
