"""Train an Embedding on tokenized headlines."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.text import Tokenizer

headlines = ["rain stops play", "play resumes late", "late rain again", "sun at last"]
tokenizer = Tokenizer()
tokenizer.fit_on_texts(headlines)
x = tf.keras.utils.pad_sequences(tokenizer.texts_to_sequences(headlines), maxlen=4)
y = np.array([1, 0, 1, 0])

words = len(tokenizer.word_index) + 1
model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(words, 4),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=1, verbose=0)
