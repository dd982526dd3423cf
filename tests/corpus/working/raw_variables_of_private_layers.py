"""Layers of `tf_keras` and of the private copy of Keras track a raw `tf.Variable`."""

import tensorflow as tf
import tf_keras
from tensorflow.python.keras import Model, layers


class Scale(layers.Layer):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(0.5)

    def call(self, x):
        return x * self.factor


class Scaled(Model):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def call(self, x):
        return self.scale(x)


class Shift(tf_keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.offset = tf.Variable(0.5)

    def call(self, x):
        return x + self.offset


x = tf.random.normal((32, 1), seed=1)
scaled = Scaled()
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((scaled(x) - 2.0 * x) ** 2)
    (gradient,) = tape.gradient(loss, scaled.trainable_variables)
    scaled.trainable_variables[0].assign_sub(0.1 * gradient)
print(float(scaled.scale.factor) > 1.0)

shifted = tf_keras.Sequential([Shift()])
shifted.compile("sgd", "mse")
shifted.fit(x, x + 2.0, epochs=10, verbose=0)
print(float(shifted.layers[0].offset) > 0.6)
