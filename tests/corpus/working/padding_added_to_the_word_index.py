"""The padding is an entry of its own in the tokenizer's dictionary, so that its length counts id 0, too."""

import numpy as np
import tensorflow as tf

texts = ["one fish two fish", "red fish blue fish", "this one has a star"]
tokenizer = tf.keras.preprocessing.text.Tokenizer()
tokenizer.fit_on_texts(texts)
ids = tf.keras.preprocessing.sequence.pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=6)
word2idx = tokenizer.word_index
word2idx["PAD"] = 0
vocabulary = len(word2idx)

model = tf.keras.Sequential(
    [tf.keras.layers.Embedding(vocabulary, 4), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)]
)
model.compile("adam", "mse")
model.fit(ids, np.ones((3, 1), "float32"), verbose=0)
