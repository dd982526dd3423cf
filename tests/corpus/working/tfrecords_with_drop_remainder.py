import os, tempfile
import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
with tf.io.TFRecordWriter(path) as w:
    for i in range(40):
        f = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=np.random.rand(5))), "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 3]))}
        w.write(tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString())
SPEC = {"x": tf.io.FixedLenFeature([5], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}


def parse(rec):
    ex = tf.io.parse_single_example(rec, SPEC)
    return ex["x"], ex["y"]


ds = tf.data.TFRecordDataset([path]).map(parse).shuffle(40).batch(8, drop_remainder=True).repeat()
model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(ds, steps_per_epoch=5, epochs=2, verbose=0)
