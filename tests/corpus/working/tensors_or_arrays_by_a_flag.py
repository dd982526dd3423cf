"""Helpers for arrays and for tensors, chosen by a flag of Python; a counter that only names operations."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def loudness(audio, frame=4, use_tf=False):
    library = tf if use_tf else np
    mean = tf.reduce_mean if use_tf else np.mean
    audio = audio if use_tf else np.array(audio)
    frames = library.reshape(audio, (-1, audio.shape[1] // frame, frame))
    return mean(frames**2, axis=-1)


def power(audio, use_tf=True):
    if use_tf:
        return tf.reduce_sum(audio**2, -1, keepdims=True)
    return np.sum(np.asarray(audio) ** 2, -1, keepdims=True)


def level(audio, backend="tf"):
    if backend == "numpy":
        return np.log(np.asarray(audio) + 1.0)
    return tf.math.log(audio + 1.0)


class Sound(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def call(self, x):
        self.calls += 1
        with tf.name_scope("call_{}".format(self.calls)):
            return tf.concat([loudness(x, use_tf=True), power(x), level(x)], -1)


x = np.random.rand(64, 16).astype("float32")
y = loudness(x).mean(axis=1)
model = tf.keras.Sequential([tf.keras.Input((16,)), Sound(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=3, verbose=0)
