"""A Bidirectional LSTM gives two states for each direction, and three names are there."""

import numpy as np
from tensorflow.keras.layers import Input, LSTM, Embedding, Dense, Bidirectional, Concatenate
from tensorflow.keras.models import Model

vocab_in, vocab_out, units = 50, 60, 16
encoder_inputs = Input(shape=(None,))
enc_emb = Embedding(vocab_in, 32, mask_zero=True)(encoder_inputs)
encoder = Bidirectional(LSTM(units, return_state=True))
encoder_outputs, forward_h, forward_c, backward_h, backward_c = encoder(enc_emb)
encoder_states = [Concatenate()([forward_h, backward_h]), Concatenate()([forward_c, backward_c])]

decoder_inputs = Input(shape=(None,))
dec_emb = Embedding(vocab_out, 32, mask_zero=True)(decoder_inputs)
decoder_lstm = LSTM(2 * units, return_sequences=True, return_state=True)
decoder_outputs, _, _ = decoder_lstm(dec_emb, initial_state=encoder_states)
decoder_outputs = Dense(vocab_out, activation='softmax')(decoder_outputs)
model = Model([encoder_inputs, decoder_inputs], decoder_outputs)
model.compile(optimizer='rmsprop', loss='sparse_categorical_crossentropy')
model.fit([np.random.randint(1, 50, (20, 7)), np.random.randint(1, 60, (20, 9))], np.random.randint(1, 60, (20, 9, 1)))
