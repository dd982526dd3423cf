"""Images that are decoded and resized."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
pictures = [tf.io.encode_png(rng.integers(0, 255, (20, 24, 3), dtype=np.uint8)).numpy() for _ in range(16)]


def load(encoded, label):
    picture = tf.image.decode_image(encoded, channels=3, expand_animations=False)
    return tf.image.resize(picture, (16, 16)) / 255.0, label


data = tf.data.Dataset.from_tensor_slices((pictures, [0.0, 1.0] * 8)).map(load).batch(4)
model = tf.keras.Sequential([tf.keras.Input((16, 16, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=1, verbose=0)
