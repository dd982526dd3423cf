"""The five values of a Bidirectional LSTM, and attention over every step."""

import numpy as np
from tensorflow.keras.layers import Input, LSTM, GRU, Embedding, Dense, Bidirectional, Concatenate, Attention
from tensorflow.keras.models import Model
e = Input((None,))
enc = Bidirectional(LSTM(8, return_sequences=True, return_state=True))
enc_out, fh, fc, bh, bc = enc(Embedding(30, 8)(e))
state_h, state_c = Concatenate()([fh, bh]), Concatenate()([fc, bc])
d = Input((None,))
dec = LSTM(16, return_sequences=True, return_state=True)
out, _, _ = dec(Embedding(40, 8)(d), initial_state=[state_h, state_c])
ctx = Attention()([out, enc_out])
g, *gs = Bidirectional(GRU(4, return_state=True))(enc_out)
y = Dense(40, activation="softmax")(Concatenate()([out, ctx]))
m = Model([e, d], y)
m.compile("rmsprop", "sparse_categorical_crossentropy")
m.fit([np.random.randint(1, 30, (20, 6)), np.random.randint(1, 40, (20, 7))], np.random.randint(0, 40, (20, 7)), verbose=0)
