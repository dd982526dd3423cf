"""A tutorial on `tf.function` that shows what fails, each in a block that expects the error."""

import contextlib

import tensorflow as tf


@contextlib.contextmanager
def assert_raises(error_class):
    try:
        yield
    except error_class as error:
        print("expected:", type(error).__name__)
    else:
        raise AssertionError("no error was raised")


@tf.function
def creates_each_time(x):
    v = tf.Variable(1.0)
    v.assign_add(x)
    return v


with assert_raises(ValueError):
    creates_each_time(1.0)


@tf.function
def defined_in_one_branch(flag):
    if flag:
        x = tf.ones([3, 3])
    return x


with assert_raises(ValueError):
    defined_in_one_branch(tf.constant(True))

v = tf.Variable(1.0)


@tf.function
def works(x):
    return v.assign_add(x)


print(works(1.0).numpy(), works(2.0).numpy())
