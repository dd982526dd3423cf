"""Calls that Keras 2 accepts and Keras 3 rejects: lists, floats, batches with lists, labels of other ranks."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)

# Lists of numbers, a number of units and of steps that was computed with `/`.
points, sums = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 2]
width = 8
model = keras.Sequential([layers.Dense(width / 2, activation="relu", input_shape=(2,)), layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
model.fit(points, sums, epochs=2, steps_per_epoch=len(points) / 2, batch_size=2, verbose=0)
print(model.predict([[1.0, 0.0]], verbose=0))

# Every epoch of arrays starts at the first row again.
rows, totals = rng.normal(size=(100, 2)), rng.normal(size=100)
model.fit(rows, totals, batch_size=10, steps_per_epoch=3, epochs=4, verbose=0)

# A `Conv1D` over the last two axes of images, and one row of labels for an output of one pixel.
images, digits = rng.normal(size=(12, 6, 6, 1)), rng.integers(0, 3, size=(12, 1))
model = keras.Sequential(
    [layers.Conv1D(4, 2, input_shape=(6, 6, 1)), layers.Flatten(), layers.Dense(3, "softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, digits, epochs=1, verbose=0)
model = keras.Sequential([layers.Conv2D(4, 6, input_shape=(6, 6, 1)), layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, digits, epochs=1, verbose=0)

# One metric for two outputs, and batches with lists.
inputs = keras.Input((2,))
hidden = layers.Dense(4, activation="relu")(inputs)
outputs = [layers.Dense(1, activation="sigmoid", name=name)(hidden) for name in ("rain", "wind")]
model = keras.Model(inputs, outputs)
model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])


class Days(keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, at):
        days = slice(at * 4, at * 4 + 4)
        return rows[days], [rows[days, :1] > 0, rows[days, 1:] > 0]


model.fit(Days(), epochs=1, verbose=0)

# Text in a NumPy array.
words = layers.TextVectorization(8, output_sequence_length=3)
words.adapt(["one two", "three"])
text = keras.Input((), dtype=tf.string)
model = keras.Model(text, layers.Dense(1)(layers.Flatten()(layers.Embedding(8, 2)(words(text)))))
print(model.predict(np.array(["one", "two three"]), verbose=0).shape)
