import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Concatenate, Conv1D, Dense, GlobalMaxPooling1D, Input

rng = np.random.default_rng(3)
n = 150
seq = rng.normal(size=(n, 20, 2)).astype("float32")
static = rng.normal(size=(n, 3)).astype("float32")
y = ((seq[:, :, 0].mean(axis=1) + static[:, 0]) > 0).astype("int32")

a, b = Input((20, 2)), Input((3,))
h = Concatenate()([GlobalMaxPooling1D()(Conv1D(6, 5, activation="relu")(a)), b])
model = tf.keras.Model([a, b], Dense(2, activation="softmax")(h))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit([seq, static], y, epochs=2, batch_size=15, verbose=2)
