import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Dense, Lambda, LSTM
from tensorflow.keras.models import Model

rng = np.random.default_rng(3)
series = rng.normal(size=(160, 14, 3)).astype("float32")
target = series[:, 5, 0] + series[:, 9, 1]

score = Dense(1)

inp = Input((14, 3))
h = LSTM(12, return_sequences=True)(inp)
logits = score(h)
context = Lambda(lambda t: tf.reduce_sum(t[0] * tf.nn.softmax(t[1], axis=1), axis=1), output_shape=(12,))([h, logits])
out = Dense(1)(context)

model = Model(inp, out)
model.compile(optimizer="adam", loss="mse")
model.fit(series, target, epochs=2, batch_size=20, verbose=2)
