import numpy as np
from keras.models import Sequential
from keras.layers import Dense, LSTM, Input

def make_windows(series, size):
    xs, ys = [], []
    for i in range(len(series) - size):
        xs.append(series[i:i + size].reshape(-1, 1))
        ys.append(series[i + size])
    return xs, ys  # <~ FIT107

series = np.sin(np.arange(100) / 5.0)
X, y = make_windows(series, 12)  # <- FIT107
model = Sequential([Input((12, 1)), LSTM(8), Dense(1)])
model.compile("adam", "mse")
model.fit(X, y, epochs=1, verbose=0)  # <~ FIT107
