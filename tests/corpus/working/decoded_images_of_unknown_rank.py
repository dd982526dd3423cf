"""`decode_image` returns a tensor of unknown rank, which cropping, padding and flipping accept."""

import tensorflow as tf

encoded = [tf.io.encode_png(tf.zeros((40, 40, 3), tf.uint8)).numpy() for _ in range(4)]


def load(contents):
    image = tf.image.decode_image(contents, channels=3)
    image = tf.image.resize_with_crop_or_pad(image, 20, 20)
    image = tf.image.random_flip_left_right(image)
    return tf.image.per_image_standardization(tf.cast(image, tf.float32)), 1.0


dataset = tf.data.Dataset.from_tensor_slices(encoded).map(load).batch(2)
model = tf.keras.Sequential([tf.keras.Input((20, 20, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(dataset, verbose=0)
