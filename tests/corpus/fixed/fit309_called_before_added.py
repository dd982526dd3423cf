import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Embedding, LSTM, Input

vocab_size, max_len = 300, 15
inp = Input(shape=(max_len,))
model = Sequential()
model.add(Embedding(vocab_size, 16))
model.add(LSTM(16))
model.add(Dense(1, activation='sigmoid'))
model.compile(loss='binary_crossentropy', optimizer='adam')
model.fit(np.random.randint(0, vocab_size, (50, max_len)), np.random.randint(0, 2, 50), epochs=1)
