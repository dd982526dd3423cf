from keras.models import Sequential
from keras.layers import Dense, LSTM, Dropout
import numpy as np

def make_windows(series, n):
    xs, ys = [], []
    for i in range(len(series) - n):
        xs.append(series[i:i + n])
        ys.append(series[i + n])
    return np.array(xs), np.array(ys)

series = np.sin(np.arange(400) / 10.0)
X, y = make_windows(series, 24)
model = Sequential()
model.add(LSTM(50, return_sequences=True, input_shape=(24, 1)))
model.add(Dropout(0.2))
model.add(LSTM(50))
model.add(Dense(1))
model.compile(loss="mean_squared_error", optimizer="adam")
model.fit(X.reshape(-1, 1, 24), y, epochs=1, batch_size=32, verbose=2)   # <- FIT104
