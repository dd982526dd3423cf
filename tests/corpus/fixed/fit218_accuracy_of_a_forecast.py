import numpy as np
from keras.models import Sequential
from keras.layers import Dense, LSTM

series = np.sin(np.linspace(0, 60, 600)) + 0.1 * np.random.randn(600)
step = 12
X = np.array([series[i:i + step] for i in range(len(series) - step)])
Y = np.array([series[i + step] for i in range(len(series) - step)])
X = X.reshape(-1, step, 1)
model = Sequential()
model.add(LSTM(16, input_shape=(step, 1)))
model.add(Dense(1))
model.compile(loss='mean_squared_error', optimizer='adam', metrics=["mae"])
model.fit(X, Y, epochs=1, verbose=0)
