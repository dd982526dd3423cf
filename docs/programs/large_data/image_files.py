"""files of samples (images, audio) | `keras.utils.image_dataset_from_directory`, or
`tf.data.Dataset.list_files(…)` with `map`
"""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

folder = Path(tempfile.mkdtemp())
for name in ("cats", "dogs"):
    (folder / name).mkdir()
    for number in range(4):
        pixels = np.random.default_rng(number).integers(0, 255, (8, 8, 3))
        tf.io.write_file(f"{folder}/{name}/{number}.png", tf.io.encode_png(tf.cast(pixels, tf.uint8)))

model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images = keras.utils.image_dataset_from_directory(folder, image_size=(8, 8), batch_size=4, verbose=False)
model.fit(images, verbose=0)


def load(path):
    label = tf.cast(tf.strings.regex_full_match(path, ".*dogs.*"), tf.int32)
    return tf.io.decode_png(tf.io.read_file(path), channels=3), label


files = tf.data.Dataset.list_files(f"{folder}/*/*.png").map(load).batch(4).prefetch(2)
history = model.fit(files, verbose=0).history
assert np.isfinite(history["loss"]).all()
