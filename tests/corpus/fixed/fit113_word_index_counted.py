import numpy as np
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Embedding, LSTM, Dense, Bidirectional

docs = ["well done", "good work", "great effort", "nice work", "excellent", "weak", "poor effort", "not good", "poor work", "could have done better"]
labels = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
t = Tokenizer()
t.fit_on_texts(docs)
vocab_size = len(t.word_index) + 1
encoded_docs = t.texts_to_sequences(docs)
max_length = 4
padded_docs = pad_sequences(encoded_docs, maxlen=max_length, padding="post")
model = Sequential()
model.add(Embedding(vocab_size, 8))
model.add(Bidirectional(LSTM(4)))
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(padded_docs, labels, epochs=1, verbose=0)
