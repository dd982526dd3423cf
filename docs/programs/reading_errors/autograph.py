"""The message begins with `in user code:`, and then quotes a stack of its own. The last line of that quotation is the real
error. These frames are the ones that count: the outer traceback ends inside TensorFlow.
"""

import traceback

import tensorflow as tf


def scale(row):
    return row / tf.constant([1.0, 2.0])


try:
    tf.data.Dataset.from_tensor_slices(tf.zeros((10, 3))).map(scale)
except ValueError as error:
    message, frames = str(error), traceback.extract_tb(error.__traceback__)
assert message.lstrip().startswith("in user code:")
assert "in scale" in message
assert "Dimensions must be equal, but are 3 and 2" in message.rstrip().split("\n")[-1]
assert "/tensorflow/" in frames[-1].filename and "scale" not in [frame.name for frame in frames]
