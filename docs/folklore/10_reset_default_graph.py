"""Resetting the default graph, or clearing the session, makes eager tensors inaccessible.

Eager tensors belong to no graph, and `tf.compat.v1.reset_default_graph()` has no effect on them. `clear_session()`
forgets the names and the global state of Keras; models and tensors that your program still holds keep working.
"""

import keras
import numpy as np
import tensorflow as tf

tensor = tf.constant([1.0, 2.0])
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
before = model(np.ones((1, 2))).numpy()

tf.compat.v1.reset_default_graph()
keras.backend.clear_session()

assert (tensor + 1).numpy().tolist() == [2.0, 3.0]
assert model(np.ones((1, 2))).numpy() == before
