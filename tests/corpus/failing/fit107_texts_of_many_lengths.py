import numpy as np
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Embedding, LSTM, Dense

sentences = [
    "this movie was great",
    "terrible plot and bad acting",
    "i loved it",
    "never again",
    "what a wonderful surprise of a film",
    "boring",
] * 8
labels = np.array([1, 0, 1, 0, 1, 0] * 8)

vocab_size = 100
tok = Tokenizer(num_words=vocab_size, oov_token="<OOV>")
tok.fit_on_texts(sentences)
sequences = tok.texts_to_sequences(sentences)  # <~ FIT107

model = Sequential(
    [
        Embedding(vocab_size, 16),
        LSTM(8),
        Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(sequences, labels, epochs=2, verbose=0)  # <- FIT107
