"""`Input to reshape is a tensor with … values, but the requested shape has …` at run time"""

import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec((None,), tf.float32)])
def step(x):
    return tf.reshape(x, (4, 2))


step(tf.zeros(8))
try:
    step(tf.zeros(6))
except tf.errors.InvalidArgumentError as error:
    assert "Input to reshape is a tensor with 6 values, but the requested shape has 8" in str(error)
else:
    raise AssertionError("it must raise")
