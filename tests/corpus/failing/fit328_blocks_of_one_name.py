"""Blocks of a network made by a function that names its convolution."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers


def add_block(model, filters):
    model.add(layers.Conv1D(filters, 3, padding="same", activation="relu", name="block_conv"))  # <- FIT328
    model.add(layers.MaxPooling1D(2))


signal = np.random.default_rng(7).normal(size=(48, 32, 1)).astype("float32")
beat = (signal.mean(axis=(1, 2)) > 0).astype("int32")
model = Sequential([layers.Input((32, 1))])
for filters in (8, 16):
    add_block(model, filters)
model.add(layers.GlobalAveragePooling1D())
model.add(layers.Dense(2, activation="softmax"))
model.compile(tf.keras.optimizers.Adam(), "sparse_categorical_crossentropy")
model.fit(signal, beat, epochs=1, verbose=0)
