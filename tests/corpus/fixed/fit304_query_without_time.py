"""The last state of an LSTM as the query of Attention."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, LSTM, Attention, Dense, Flatten, Reshape

inp = Input((10, 4))
seq, h, c = LSTM(8, return_sequences=True, return_state=True)(inp)
context = Flatten()(Attention()([Reshape((1, 8))(h), seq]))
out = Dense(1, activation="sigmoid")(context)
model = tf.keras.Model(inp, out)
model.compile("adam", "binary_crossentropy")
model.fit(np.random.rand(40, 10, 4), np.random.randint(0, 2, (40, 1)), batch_size=8, epochs=1, verbose=0)
