import os

import tensorflow as tf

FILES = ["/data/train/1_cat.png", "/data/train/0_dog.png"]


def parse(path):
    label = os.path.basename(path).split("_")[0]  # <- FIT407
    return path, int(label)


dataset = tf.data.Dataset.from_tensor_slices(FILES).map(parse).batch(2)
for paths, labels in dataset:
    print(paths.shape, labels.numpy())
