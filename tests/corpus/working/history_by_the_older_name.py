"""Tries the current name of a history key before the one that was asked for."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
record = model.fit(np.random.rand(32, 4), np.random.randint(0, 3, 32), epochs=2, verbose=0)
h = record.history
try:
    acc = h["accuracy"]
except KeyError:
    acc = h["acc"]
try:
    best = max(h["accuracy"])
except:
    best = max(h["acc"])
print(acc, best)
