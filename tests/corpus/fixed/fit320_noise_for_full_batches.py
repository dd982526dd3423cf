"""The noise has as many rows as the batch."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers

BATCH = 32


def sample(args):
    mean, log_var = args
    noise = tf.random.normal(shape=tf.shape(mean))
    return mean + tf.exp(log_var / 2) * noise


inputs = layers.Input((12,))
hidden = layers.Dense(8, activation="relu")(inputs)
code = layers.Lambda(sample, output_shape=(2,))([layers.Dense(2)(hidden), layers.Dense(2)(hidden)])
model = Model(inputs, layers.Dense(12, activation="sigmoid")(code))
model.compile("adam", "mse")
x = np.random.default_rng(5).random((100, 12)).astype("float32")
model.fit(x, x, epochs=1, batch_size=BATCH, verbose=0)
