import numpy as np
from tensorflow.keras.layers import Input, LSTM, Dense
from tensorflow.keras.models import Model

enc_in = Input((None, 6))
_, h, c = LSTM(8, return_state=True)(enc_in)
dec_in = Input((None, 5))
dec = LSTM(8, return_sequences=True)(dec_in, initial_state=[h, c])
out = Dense(5, activation="softmax")(dec)
model = Model(dec_in, out)  # <- FIT315
model.compile("adam", "categorical_crossentropy")
d = np.eye(5)[np.random.randint(0, 5, (10, 7))]
model.fit([np.random.rand(10, 9, 6), d], d, epochs=1, verbose=0)
