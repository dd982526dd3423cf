"""With soft placement off: `InvalidArgumentError: Could not satisfy device specification '…/device:GPU:0'`"""

import tensorflow as tf

tf.config.set_soft_device_placement(False)
try:
    with tf.device("/GPU:0"):
        tf.constant(1.0) + 1.0
except tf.errors.InvalidArgumentError as error:
    assert str(error).startswith("Could not satisfy device specification '/job:localhost/")
    assert "/device:GPU:0'" in str(error)
else:
    raise AssertionError("it must raise")
