"""Activations and initializers of TensorFlow's private Keras are plain functions, and so is a Dropout in `call`."""

import numpy as np
import tensorflow as tf
from tensorflow.python.keras import activations, initializers
from tensorflow.python.keras.layers import Dropout


class Hidden(tf.keras.layers.Layer):
    def __init__(self, units, activation="relu"):
        super().__init__()
        self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get("glorot_uniform")

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel", shape=(input_shape[-1], self.units), initializer=self.kernel_initializer
        )

    def call(self, inputs, training=False):
        hidden = self.activation(tf.matmul(inputs, self.kernel))
        return Dropout(0.5)(hidden, training=training)


x = np.random.default_rng(1).normal(size=(64, 4)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((4,)), Hidden(8), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1], verbose=0)
print(len(model.trainable_variables))
