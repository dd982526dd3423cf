"""After five traces TensorFlow warns `5 out of the last 5 calls to … triggered tf.function retracing`."""

import io
import logging

import tensorflow as tf


@tf.function
def step(x, number):
    return x * number


log = io.StringIO()
tf.get_logger().addHandler(logging.StreamHandler(log))
for number in range(6):
    step(tf.constant(1.0), number)
assert (
    "5 out of the last 5 calls to" in log.getvalue() and "triggered tf.function retracing" in log.getvalue()
)
