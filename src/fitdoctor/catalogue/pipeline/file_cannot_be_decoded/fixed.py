"""Training on image files, one of which is an HTML error page."""

import pathlib
import tempfile

import keras
import tensorflow as tf

folder = pathlib.Path(tempfile.mkdtemp())
for number in range(8):
    picture = tf.io.encode_jpeg(tf.fill((12, 12, 3), tf.constant(number, tf.uint8))).numpy()
    (folder / f"{number}.jpg").write_bytes(picture if number != 5 else b"<html>404: not found</html>")


def load(path, label):
    picture = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(picture, (12, 12)) / 255.0, label


paths = [str(folder / f"{number}.jpg") for number in range(8)]
pictures = tf.data.Dataset.from_tensor_slices((paths, [0.0, 1.0] * 4)).map(load).ignore_errors().batch(4)

model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(pictures, epochs=1, verbose=0)
