"""`with tf.device("/GPU:0")` fails on a machine without a GPU.

By default TensorFlow places an operation on a device that exists, and says nothing. Only with soft placement turned
off does it raise `InvalidArgumentError` (FIT601).
"""

import tensorflow as tf

tf.config.set_visible_devices([], "GPU")  # the same on every machine
with tf.device("/GPU:0"):
    total = tf.constant([1.0]) + 1.0
assert "CPU" in total.device

tf.config.set_soft_device_placement(False)
try:
    with tf.device("/GPU:0"):
        tf.constant([1.0]) + 1.0
except tf.errors.InvalidArgumentError as error:
    raised = error
assert "GPU:0" in str(raised)
