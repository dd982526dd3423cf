import numpy as np
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import LSTM, Dense, Masking

PAD = -10.0


def padded_series(n=120, longest=14):
    rng = np.random.default_rng(4)
    x = np.full((n, longest, 2), PAD, dtype="float32")
    y = np.zeros(n, dtype="float32")
    for i in range(n):
        length = int(rng.integers(4, longest + 1))
        values = rng.normal(size=(length, 2))
        x[i, :length] = values
        y[i] = values[:, 0].mean()
    return x, y


x, y = padded_series()
seq = Input((14, 2))
h = Masking(mask_value=PAD)(seq)
h = LSTM(10)(h)
model = Model(seq, Dense(1)(h))
model.compile("adam", "mse")
model.fit(x, y, epochs=2, batch_size=12, verbose=2)
