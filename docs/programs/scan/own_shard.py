"""Each worker applies `take`, `skip` and `enumerate` to its own part of the data."""

import tensorflow as tf

service = tf.data.experimental.service
dispatcher = service.DispatchServer()
address = dispatcher.target.split("://")[1]
workers = [service.WorkerServer(service.WorkerConfig(dispatcher_address=address)) for _ in range(2)]


def distributed(dataset):
    policy = service.ShardingPolicy.DYNAMIC
    options = tf.data.Options()
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    sent = service.distribute(policy, dispatcher.target)
    return list(dataset.with_options(options).apply(sent).as_numpy_iterator())


numbers = tf.data.Dataset.range(1000)
assert sorted(distributed(numbers)) == list(range(1000))  # every element once
assert len(distributed(numbers.take(10))) == 20  # ten per worker
assert len(distributed(numbers.skip(10))) == 980
assert max(number for number, _element in distributed(numbers.enumerate())) < 999
