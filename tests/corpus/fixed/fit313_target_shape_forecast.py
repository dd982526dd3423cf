import numpy as np
from tensorflow.keras import Sequential
from tensorflow.keras.layers import Input, LSTM, Dense, Reshape

n_past, n_future, n_series = 16, 4, 3
rng = np.random.default_rng(7)
walk = np.cumsum(rng.normal(scale=0.2, size=(260, n_series)), axis=0)
walk = (walk - walk.mean(0)) / walk.std(0)

X = np.stack([walk[i:i + n_past] for i in range(240)])
Y = np.stack([walk[i + n_past:i + n_past + n_future] for i in range(240)])

model = Sequential([
    Input((n_past, n_series)),
    LSTM(24),
    Dense(n_future * n_series),
    Reshape((n_future, n_series)),
])
model.compile(optimizer='adam', loss='mse')
model.fit(X, Y, batch_size=24, epochs=2, verbose=2)
