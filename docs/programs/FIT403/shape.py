"""`'out' has shape (0,) before the loop, but shape (1,) after one iteration`"""

import tensorflow as tf


@tf.function
def collected(n):
    out = tf.zeros((0,))
    for _ in tf.range(n):
        out = tf.concat([out, [1.0]], axis=0)
    return out


try:
    collected(tf.constant(3))
except ValueError as error:
    assert "'out' has shape (0,) before the loop, but shape (1,) after one iteration" in str(error)
else:
    raise AssertionError("it must raise")
