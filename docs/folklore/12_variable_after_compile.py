"""A variable that is created after `compile` is not in the graph, and using it raises.

It raises nothing, which is worse: a loss may use any variable. But the optimizer updates only
`model.trainable_variables`, so a variable that no layer tracks is never trained, silently (FIT503).
"""

import keras
import numpy as np
import tensorflow as tf

x, y = np.random.rand(32, 4), np.random.rand(32, 1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])


def loss(labels, predictions):
    return tf.reduce_mean(tf.square(labels - scale * predictions))


model.compile(optimizer="sgd", loss=loss)
scale = tf.Variable(1.0)  # after compile
model.fit(x, y, epochs=3, verbose=0)
assert scale.numpy() == 1.0
