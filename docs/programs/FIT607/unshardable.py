"""`NotFoundError: Found an unshardable source dataset`"""

import tensorflow as tf
from tensorflow.python.data.experimental.ops.distribute import _AutoShardDataset

options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
rows = tf.data.Dataset.from_tensor_slices([1.0, 2.0]).with_options(options)
try:
    list(_AutoShardDataset(rows, 2, 0))  # what a strategy does for two workers
except tf.errors.NotFoundError as error:
    assert "Found an unshardable source dataset" in str(error)
else:
    raise AssertionError("it must raise")
