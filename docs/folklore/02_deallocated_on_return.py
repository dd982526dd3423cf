"""A tensor is deallocated when the function that made it returns.

A tensor is a Python object. It lives as long as something refers to it, like any other object. Returning it is
enough; no extra reference, variable or `tf.identity` is needed.
"""

import gc

import tensorflow as tf


def make():
    inside = tf.constant([1, 2, 3])
    return inside


kept = make()
gc.collect()
assert kept.numpy().tolist() == [1, 2, 3]
