"""Classify gesture letters A..Z without J and Z, plus 'nothing'."""
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

LETTERS = [c for c in string.ascii_uppercase if c not in "JZ"]
LABELS = {c: i for i, c in enumerate(LETTERS + ["nothing"])}


def landmarks(n=250):
    rng = np.random.default_rng(19)
    names = rng.choice(list(LABELS), n)
    codes = np.array([LABELS[c] for c in names])
    points = rng.normal(0, 0.2, (n, 42)) + np.eye(42)[codes]
    return points.astype("float32"), codes


points, codes = landmarks()
ds = tf.data.Dataset.from_tensor_slices((points, codes)).shuffle(len(codes)).batch(25)

model = Sequential([
    Input((42,)),
    Dense(32, activation="relu"),
    Dense(len(LETTERS), activation="softmax"),  # <- FIT203
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(ds, epochs=2, verbose=2)
