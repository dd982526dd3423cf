import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model

src = np.random.randint(1, 50, (40, 10))
tgt = np.random.randint(1, 60, (40, 9))

enc_in = layers.Input(shape=(None,), name="src")
e = layers.Embedding(50, 16)(enc_in)
enc_out = layers.GlobalAveragePooling1D()(e)
state_h = layers.Dense(24, activation="tanh")(enc_out)

dec_in = layers.Input(shape=(None,), name="tgt_in")
d = layers.Embedding(60, 16)(dec_in)
d = layers.LSTM(24, return_sequences=True)(d, initial_state=[state_h])  # <- FIT314
out = layers.Dense(60, activation="softmax")(d)
model = Model([enc_in, dec_in], out)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit([src, tgt[:, :-1]], tgt[:, 1:], epochs=1, verbose=0)
