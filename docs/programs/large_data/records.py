"""TFRecord files | `tf.data.TFRecordDataset` with `tf.io.parse_single_example`"""

import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

path = str(Path(tempfile.mkdtemp()) / "rows.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for row in np.random.default_rng(0).random((50, 3)):
        value = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        writer.write(tf.train.Example(features=tf.train.Features(feature={"row": value})).SerializeToString())


def read(record):
    row = tf.io.parse_single_example(record, {"row": tf.io.FixedLenFeature([3], tf.float32)})["row"]
    return row[:2], row[2:]


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
history = model.fit(tf.data.TFRecordDataset(path).map(read).batch(10), verbose=0).history
assert np.isfinite(history["loss"]).all()
