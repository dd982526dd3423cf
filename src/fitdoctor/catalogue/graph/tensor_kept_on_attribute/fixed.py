"""An encoder whose output a callback reads."""

import numpy as np
import tensorflow as tf


class Encoder(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4, activation="tanh")

    def call(self, inputs):
        return self.dense(inputs)


class CodeNorm(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("norm of the code:", float(tf.norm(encoder(x))))


encoder = Encoder()
model = tf.keras.Sequential([tf.keras.Input((6,)), encoder, tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(8).normal(size=(64, 6)).astype("float32")
model.fit(x, x[:, :1], epochs=2, verbose=0, callbacks=[CodeNorm()])
