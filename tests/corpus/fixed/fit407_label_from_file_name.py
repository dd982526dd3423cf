import os

import tensorflow as tf

FILES = ["/data/train/1_cat.png", "/data/train/0_dog.png"]


def parse(path):
    name = tf.strings.split(path, os.sep)[-1]
    label = tf.strings.to_number(tf.strings.split(name, "_")[0], tf.int32)
    return path, label


dataset = tf.data.Dataset.from_tensor_slices(FILES).map(parse).batch(2)
for paths, labels in dataset:
    print(paths.shape, labels.numpy())
