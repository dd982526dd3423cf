"""An eager tensor cannot be used inside a `tf.function`.

It can. The function captures it, and the call works. What you should know is something else: a Python number or a
tensor bound to another name later is not seen by a function that was traced before. It keeps the value of the trace
(FIT411).
"""

import tensorflow as tf

outside = tf.constant([4, 5, 6])


@tf.function
def add(x):
    return x + outside


assert add(tf.constant([1, 2, 3])).numpy().tolist() == [5, 7, 9]

outside = tf.constant([0, 0, 0])  # another tensor under the same name
assert add(tf.constant([1, 2, 3])).numpy().tolist() == [5, 7, 9]
