"""`is out of scope`, as `TypeError` or `InaccessibleTensorError` | a tensor of a traced function was
stored and used in another one
"""

import tensorflow as tf

kept = []


@tf.function
def first(x):
    kept.append(x * 2)
    return x


@tf.function
def second(x):
    return x + kept[0]


@tf.function
def loop(n):
    inside = []
    for number in tf.range(n):  # the body of the loop is a function of its own
        inside.append(number)
    return tf.stack(inside)


first(tf.constant(1.0))
types = set()
for function, argument in ((second, 1.0), (loop, 3)):
    try:
        function(tf.constant(argument))
    except Exception as error:
        assert "is out of scope" in str(error)
        types.add(type(error).__name__)
assert types == {"TypeError", "InaccessibleTensorError"}
