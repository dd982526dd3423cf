"""on a CPU it counts tensors of 256 KiB or more"""

import sys

import tensorflow as tf


def counted(kilobytes):
    """Return the bytes by which the count grows for a tensor of this size."""
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    kept = tf.zeros((kilobytes * 256,))
    return tf.config.experimental.get_memory_info("CPU:0")["current"] - before + 0 * len(kept.shape)


tf.zeros(())  # TensorFlow is started before it is measured
try:
    counted(1024)
except ValueError:  # "Allocator stats not available": some processors get an allocator without a count
    sys.exit()
assert counted(1024) >= 1024 * 1024
assert counted(256) >= 256 * 1024
assert counted(200) == 0
