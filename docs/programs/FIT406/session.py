"""A session's `run` raises `The Session graph is empty`."""

import tensorflow as tf

session = tf.compat.v1.Session()
try:
    session.run(tf.constant(1.0) + 1.0)
except RuntimeError as error:
    assert "The Session graph is empty" in str(error)
else:
    raise AssertionError("it must raise")
