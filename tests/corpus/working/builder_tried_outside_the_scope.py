"""A builder is tried once outside the scope; what is trained is built inside it."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

strategy = tf.distribute.MirroredStrategy()


def encoder():
    inputs = layers.Input((4,))
    return tf.keras.Model(inputs, layers.Dense(4, activation="relu")(inputs))


encoder().summary()
with strategy.scope():
    first = encoder()
    model = tf.keras.Sequential([first, layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(np.ones((32, 4), "float32"), np.ones((32, 1), "float32"), verbose=0)
