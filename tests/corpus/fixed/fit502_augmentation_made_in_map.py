import keras
import numpy as np
import tensorflow as tf


def flips():
    return keras.Sequential([keras.layers.RandomFlip("horizontal"), keras.layers.RandomRotation(0.1)])


class Augment:
    def __init__(self):
        self.flips = flips()

    def apply(self, image, label):
        return self.flips(image, training=True), label


rng = np.random.default_rng(42)
images = rng.normal(size=(48, 12, 12, 3)).astype("float32")
labels = rng.integers(0, 3, 48)
batches = tf.data.Dataset.from_tensor_slices((images, labels)).batch(8).map(Augment().apply)
model = keras.Sequential(
    [keras.Input((12, 12, 3)), keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(batches, epochs=1, verbose=2)
