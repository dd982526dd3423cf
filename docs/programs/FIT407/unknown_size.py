"""`unsupported operand type(s) for *: 'NoneType' and 'int'`"""

import tensorflow as tf


def doubled(x):
    return x.shape[0] * 2


try:
    tf.data.Dataset.range(10).batch(3).map(doubled)
except TypeError as error:
    assert "unsupported operand type(s) for *: 'NoneType' and 'int'" in str(error)
else:
    raise AssertionError("it must raise")
