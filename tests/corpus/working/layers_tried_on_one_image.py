import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

scans = np.random.default_rng(2).random((64, 12, 12, 1)).astype("float32")
kinds = np.arange(64) % 3
ds = tf.data.Dataset.from_tensor_slices((scans, kinds)).batch(16)


def mirror(image, share=0.5):
    if tf.random.uniform([]) < share:
        image = tf.reverse(image, [2])
    return image


def sometimes_mirrored(share=0.5):
    return layers.Lambda(lambda image: mirror(image, share))


# a look at what the augmentations do; the model below goes without them
sometimes_mirrored = sometimes_mirrored()
image, kind = next(iter(ds))
for _ in range(3):
    print(sometimes_mirrored(image)[0].numpy().mean())


class Mirror(layers.Layer):
    def call(self, image):
        return mirror(image)


print(Mirror()(image)[0].shape)

model = tf.keras.Sequential([layers.Flatten(), layers.Dense(3)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, epochs=1, verbose=0)
