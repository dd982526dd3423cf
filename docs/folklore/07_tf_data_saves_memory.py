"""`tf.data` saves memory for an array that is already in memory.

`from_tensor_slices` copies the array into a tensor and keeps the copy, while NumPy keeps the original. The data is in
memory at least twice. `tf.data` saves memory only if it reads the data piece by piece, from files or a generator. See
FIT803 and [Data larger than memory](guides/large_data.md).
"""

import numpy as np
import tensorflow as tf


def resident():
    """Return the memory of this process in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


array = np.ones((100, 1024, 256), "float32")  # 100 MB
tf.constant(0)  # TensorFlow is started before it is measured
before = resident()
dataset = tf.data.Dataset.from_tensor_slices(array)
assert resident() - before > 90
