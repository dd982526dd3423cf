"""`tf.placeholder` holds the place of a value that arrives later.

That was TensorFlow 1. In TensorFlow 2 the name is gone, and `tf.compat.v1.placeholder` raises outside a graph. Pass
the value as an argument when you have it (FIT406).
"""

import tensorflow as tf

assert not hasattr(tf, "placeholder")
try:
    tf.compat.v1.placeholder(tf.float32)
except RuntimeError as error:
    raised = error
assert "not compatible with eager execution" in str(raised)
