"""Helpers of a model as static and class methods, called on `self` and on the class, in a class that is not yet used."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Concatenate, Dense, Embedding, Flatten, Lambda


class Forecaster(tf.keras.Model):
    def __init__(self, series=5, units=8):
        super().__init__()
        self.embedding = Embedding(series, units)
        self.hidden = Dense(16, activation="relu")
        self.out = Dense(1)

    @staticmethod
    def repeat(vector, length):
        return Lambda(lambda v: tf.tile(v, [1, length, 1]))(vector)

    @staticmethod
    def first_steps(x, length):
        return Lambda(lambda t: t[:, :length, :])(x)

    @classmethod
    def flat(cls, x, length):
        return Flatten()(cls.first_steps(x, length))

    def call(self, inputs):
        static = self.embedding(inputs["static"])
        steps = self.first_steps(inputs["x"], 3)
        both = Concatenate(axis=-1)([steps, Forecaster.repeat(static, 3)])
        return self.out(self.hidden(self.flat(both, 3)))


class Towers:
    @staticmethod
    def tower(x, units):
        return Dense(units, activation="relu")(x)

    @classmethod
    def build(cls, width):
        left, right = tf.keras.Input((width,)), tf.keras.Input((width,))
        joined = Concatenate()([cls.tower(left, 8), Towers.tower(right, 8)])
        return tf.keras.Model([left, right], Dense(1)(joined))


x = np.random.rand(32, 4).astype("float32")
towers = Towers.build(4)
towers.compile("adam", "mse")
towers.fit([x, x], x.sum(axis=1), epochs=2, verbose=0)
