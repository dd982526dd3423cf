"""A Python `if` loses the tensors that are made in its branch.

In eager code a branch has no scope of its own: a tensor made there is as usable afterwards as any other object. In a
traced function AutoGraph turns the `if` into `tf.cond` and returns what the branches assign. What fails is a tensor
that escapes from a traced branch in another way, through a list or an attribute: FIT404.
"""

import tensorflow as tf

if tf.constant(True):
    made = tf.constant(1)
assert made.numpy() == 1


@tf.function
def traced(x):
    if tf.reduce_sum(x) > 0:
        result = x * 2
    else:
        result = x
    return result


assert traced(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
