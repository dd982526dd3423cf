from keras.models import Model
from keras.layers import Input, LSTM, Dense
import numpy as np

num_encoder_tokens = 20
num_decoder_tokens = 24
latent_dim = 16

encoder_inputs = Input(shape=(None, num_encoder_tokens))
encoder = LSTM(latent_dim, return_state=True)
encoder_outputs, state_h, state_c = encoder(encoder_inputs)
encoder_states = [state_h, state_c]

decoder_inputs = Input(shape=(None, num_decoder_tokens))
decoder_lstm = LSTM(latent_dim, return_sequences=True, return_state=True)
decoder_outputs, _, _ = decoder_lstm(decoder_inputs, initial_state=encoder_states)
decoder_dense = Dense(num_decoder_tokens, activation='softmax')
decoder_outputs = decoder_dense(decoder_outputs)
model = Model([encoder_inputs, decoder_inputs], decoder_outputs)
model.compile(optimizer='rmsprop', loss='categorical_crossentropy')

enc = np.random.rand(30, 7, num_encoder_tokens).astype('float32')
dec = np.random.rand(30, 9, num_decoder_tokens).astype('float32')
target = np.eye(num_decoder_tokens, dtype='float32')[np.random.randint(0, num_decoder_tokens, (30, 9))]
model.fit([enc, dec], target, batch_size=10, epochs=1)
