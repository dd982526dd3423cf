"""With the option `map_and_batch_fusion`: `Cannot add tensor to the batch: number of elements does not match.`"""

import numpy as np
import tensorflow as tf

rows = tf.data.Dataset.from_generator(
    lambda: (np.ones(length) for length in (3, 4)), output_signature=tf.TensorSpec((None,), tf.float64)
)
options = tf.data.Options()
options.experimental_optimization.map_and_batch_fusion = True
try:
    list(rows.map(lambda row: row * 2, num_parallel_calls=2).batch(2).with_options(options))
except tf.errors.InvalidArgumentError as error:
    assert "Cannot add tensor to the batch: number of elements does not match." in str(error)
else:
    raise AssertionError("it must raise")
