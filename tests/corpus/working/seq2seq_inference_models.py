from tensorflow.keras.models import Model
from tensorflow.keras.layers import Input, LSTM, Dense, Embedding
import numpy as np

V, L, H = 30, 8, 16
enc_in = Input((None,))
e = Embedding(V, 12, mask_zero=True)(enc_in)
_, h, c = LSTM(H, return_state=True)(e)
dec_in = Input((None,))
d_emb = Embedding(V, 12, mask_zero=True)
dec_lstm = LSTM(H, return_sequences=True, return_state=True)
d, _, _ = dec_lstm(d_emb(dec_in), initial_state=[h, c])
dense = Dense(V, activation='softmax')
model = Model([enc_in, dec_in], dense(d))
model.compile('rmsprop', 'sparse_categorical_crossentropy', metrics=['accuracy'])
src, tgt = np.random.randint(1, V, (24, L)), np.random.randint(1, V, (24, L + 1))
model.fit([src, tgt[:, :-1]], tgt[:, 1:], batch_size=8, epochs=1, verbose=0)

encoder_model = Model(enc_in, [h, c])
hi, ci = Input((H,)), Input((H,))
d2, h2, c2 = dec_lstm(d_emb(dec_in), initial_state=[hi, ci])
decoder_model = Model([dec_in, hi, ci], [dense(d2), h2, c2])
states = encoder_model.predict(src[:1], verbose=0)
token = np.array([[1]])
for _ in range(3):
    probs, hh, cc = decoder_model.predict([token, *states], verbose=0)
    token, states = np.array([[int(np.argmax(probs[0, -1]))]]), [hh, cc]
