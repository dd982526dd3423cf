"""InaccessibleTensorError means that a tensor is on the wrong device.

TensorFlow copies tensors between devices by itself. The error is about graphs: a symbolic tensor that belongs to one
graph, here the body of a loop, is used in another one. It happens on a machine with only a CPU, and `tf.device` does
not change it. See FIT401 to FIT404.
"""

import tensorflow as tf


@tf.function
def squares(n):
    kept = []
    with tf.device("/CPU:0"):  # one device for everything
        for number in tf.range(n):
            kept.append(number * number)  # a symbolic tensor of the loop body leaves it
        return tf.stack(kept)


try:
    squares(tf.constant(3))
except Exception as error:
    raised = error
assert type(raised).__name__ == "InaccessibleTensorError"
assert "out of scope" in str(raised)
