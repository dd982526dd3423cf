"""A model that reads text by itself, and texts as a tensor."""

import numpy as np
import tensorflow as tf

texts = np.array(["good film", "bad film", "fine", "awful stuff"] * 25)
labels = np.array([1, 0, 1, 0] * 25)
vectorize = tf.keras.layers.TextVectorization(max_tokens=50, output_sequence_length=6)
vectorize.adapt(texts)

model = tf.keras.Sequential(
    [
        tf.keras.Input(shape=(1,), dtype=tf.string),
        vectorize,
        tf.keras.layers.Embedding(50, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(tf.constant(texts), labels, epochs=2, verbose=0)
