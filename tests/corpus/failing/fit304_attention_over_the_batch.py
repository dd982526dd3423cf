"""Attention over the last step of an encoder: the samples of a batch attend to each other (after keras-io#193)."""

import numpy as np
import tensorflow as tf

num_encoder_tokens, num_decoder_tokens = 20, 24
latent_dim = 16
batch_size = 8
encoder_input_data = np.random.rand(32, 10, num_encoder_tokens).astype("float32")
decoder_input_data = np.random.rand(32, 12, num_decoder_tokens).astype("float32")
decoder_target_data = np.eye(num_decoder_tokens)[np.random.randint(0, num_decoder_tokens, (32, 12))]

encoder_inputs = tf.keras.Input(shape=(None, num_encoder_tokens))
encoder_lstm = tf.keras.layers.LSTM(latent_dim, return_state=True)  # <- FIT304
encoder_output, state_h, state_c = encoder_lstm(encoder_inputs)

decoder_inputs = tf.keras.Input(shape=(None, num_decoder_tokens))
decoder_lstm = tf.keras.layers.LSTM(latent_dim, return_sequences=True, return_state=True)
decoder_output, _, _ = decoder_lstm(decoder_inputs, initial_state=[state_h, state_c])

attn_out = tf.keras.layers.Attention()([decoder_output, encoder_output])
decoder_concat_input = tf.keras.layers.Concatenate(axis=-1, name="concat_layer")([decoder_output, attn_out])

decoder_dense = tf.keras.layers.Dense(num_decoder_tokens, activation="softmax")
decoder_outputs = decoder_dense(decoder_concat_input)

attn_model = tf.keras.Model([encoder_inputs, decoder_inputs], decoder_outputs)
attn_model.compile(optimizer="rmsprop", loss="categorical_crossentropy", metrics=["accuracy"])
attn_model.fit([encoder_input_data, decoder_input_data], decoder_target_data, batch_size=batch_size, epochs=2)
