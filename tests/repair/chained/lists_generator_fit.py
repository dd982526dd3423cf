import numpy as np
from tensorflow.keras.layers import LSTM, Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD

prices = np.sin(np.arange(200) / 9.0)
X, y = [], []
for start in range(180):
    X.append(prices[start : start + 12])
    y.append(prices[start + 12])

model = Sequential()
model.add(Input(shape=(12, 1)))
model.add(LSTM(8))
model.add(LSTM(4))
model.add(Dense(1))
model.compile(optimizer=SGD(lr=0.01, momentum=0.9), loss="mse")
model.fit(X, y, nb_epoch=2, verbose=0)
