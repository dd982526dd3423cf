"""One tokenizer gives the size of the table, another one the ids."""

import numpy as np
import pickle
from tf_keras.preprocessing.text import Tokenizer
from tf_keras.preprocessing.sequence import pad_sequences
import tf_keras
from tf_keras import layers

texts = ["the cat sat on the mat", "a dog barks at the cat", "birds sing"] * 8
longer = texts + ["many other words are here too"]


def make_tokenizer(lines):
    t = Tokenizer(oov_token="?")
    t.fit_on_texts(lines)
    return t


tokenizer = Tokenizer(num_words=100)
tokenizer.fit_on_texts(longer)
vocab_size = len(tokenizer.word_index) + 1
tokenizer = make_tokenizer(texts)
x = pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=6)
m = tf_keras.Sequential(
    [layers.Embedding(vocab_size, 8, input_length=6), layers.Flatten(), layers.Dense(1, activation="sigmoid")]
)
m.compile("adam", "binary_crossentropy")
m.fit(x, np.array([0, 1, 1] * 8), verbose=0)

char = Tokenizer(char_level=True)
char.fit_on_texts(texts)
n = len(char.word_index)
word = Tokenizer(num_words=5)
word.fit_on_texts(texts)
ids = pad_sequences(word.texts_to_sequences(texts), maxlen=6)
m = tf_keras.Sequential(
    [layers.Embedding(n, 8, input_length=6), layers.Flatten(), layers.Dense(1, activation="sigmoid")]
)
m.compile("adam", "binary_crossentropy")
m.fit(ids, np.array([0, 1, 1] * 8), verbose=0)
