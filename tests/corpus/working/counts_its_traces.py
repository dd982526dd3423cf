import tensorflow as tf
n_traces = 0
@tf.function
def f(x):
    global n_traces
    n_traces += 1
    print("tracing with", x.shape)
    return tf.reduce_sum(x)
for _ in range(5):
    f(tf.ones((3,)))
print("traced", n_traces, "times")
