"""`cache()` without a file name keeps everything it has read in memory."""

import tensorflow as tf


def resident():
    """Return the memory of this process in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


def read(cached):
    dataset = tf.data.Dataset.range(400).map(lambda number: tf.fill((1024, 256), tf.cast(number, tf.float32)))
    dataset = dataset.cache() if cached else dataset  # 400 elements of 1 MB
    before = resident()
    for _element in dataset:
        pass
    return resident() - before


read(cached=False)  # TensorFlow is started before it is measured
assert read(cached=False) < 100
assert read(cached=True) > 200
