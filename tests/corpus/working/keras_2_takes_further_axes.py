"""Keras 2 convolves over further batch axes, and flattens the labels and outputs of a sparse loss."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(2)
images = rng.random((24, 8, 8, 3)).astype("float32")
labels = rng.integers(0, 4, size=(24, 1))

lines = keras.Sequential(
    [layers.Conv1D(4, 2, input_shape=(8, 8, 3)), layers.Flatten(), layers.Dense(4, activation="softmax")]
)
lines.compile("adam", "sparse_categorical_crossentropy")
lines.fit(images, labels, verbose=0)

patches = keras.Sequential(
    [layers.Conv2D(4, 8, input_shape=(8, 8, 3)), layers.Dense(4, activation="softmax")]
)
patches.compile("adam", "sparse_categorical_crossentropy")
patches.fit(images, labels, verbose=0)

video = keras.Sequential([layers.Conv2D(4, 3, input_shape=(5, 8, 8, 3)), layers.Flatten(), layers.Dense(1)])
video.compile("adam", "mse")
video.fit(rng.random((6, 5, 8, 8, 3)), rng.random((6, 1)), verbose=0)

# Where one of the two is 1, no model of Keras 2 compares the last axis.
colored = keras.Input((8, 8, 3))
gray = layers.Lambda(lambda pixels: tf.reduce_mean(pixels, -1, keepdims=True))(colored)
brightest = keras.Model(colored, layers.GlobalMaxPooling2D()(gray))
brightest.compile("adam", "mse")
brightest.fit(rng.random((6, 8, 8, 1)), rng.random((6, 1)), verbose=0)
