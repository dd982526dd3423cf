"""`shuffle(n)` keeps `n` samples in memory: it reads them before it yields the first one.

Put `shuffle` before `batch`: after it, whole batches change places, and their rows stay together.

Put `cache` before `shuffle`: after it, every epoch has the same order.
"""

import tensorflow as tf

read = []


def samples():
    for number in range(1000):
        read.append(number)
        yield number


next(iter(tf.data.Dataset.from_generator(samples, output_signature=tf.TensorSpec((), tf.int64)).shuffle(500)))
assert len(read) >= 500

numbers = tf.data.Dataset.range(100)
batches = [sorted(batch.numpy()) for batch in numbers.batch(10).shuffle(100)]
assert sorted(batches) == [list(range(first, first + 10)) for first in range(0, 100, 10)]
batches = [sorted(batch.numpy()) for batch in numbers.shuffle(100).batch(10)]
assert sorted(batches) != [list(range(first, first + 10)) for first in range(0, 100, 10)]

late, early = numbers.shuffle(100).cache(), numbers.cache().shuffle(100)
assert [int(number) for number in late] == [int(number) for number in late]
assert [int(number) for number in early] != [int(number) for number in early]
