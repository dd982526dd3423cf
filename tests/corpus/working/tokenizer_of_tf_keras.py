"""`keras.preprocessing.text` is gone, but lives on as `tensorflow.keras.preprocessing.text`."""

import numpy as np
from tensorflow.keras.layers import LSTM, Dense, Embedding
from tensorflow.keras.models import Sequential
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer

texts = ["a good film", "a bad film", "really good", "an awful plot", "great", "boring"] * 5
labels = np.array([1, 0, 1, 0, 1, 0] * 5)

tokenizer = Tokenizer()
tokenizer.fit_on_texts(texts)
sequences = pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=4)

model = Sequential()
model.add(Embedding(len(tokenizer.word_index) + 1, 8))
model.add(LSTM(8))
model.add(Dense(1, activation="sigmoid"))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(sequences, labels, epochs=1, verbose=0)
