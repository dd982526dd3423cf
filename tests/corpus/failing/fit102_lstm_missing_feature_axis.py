import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import LSTM, Dense, Dropout


def create_dataset(series, look_back=10):
    X, Y = [], []
    for i in range(len(series) - look_back):
        X.append(series[i:i + look_back])
        Y.append(series[i + look_back])
    return np.array(X), np.array(Y)  # <~ FIT102


prices = np.cumsum(np.random.RandomState(7).randn(250))
prices = (prices - prices.min()) / (prices.max() - prices.min())

look_back = 10
trainX, trainY = create_dataset(prices, look_back)  # <~ FIT102
print(trainX.shape, trainY.shape)

model = Sequential()
model.add(LSTM(16))  # <~ FIT102
model.add(Dropout(0.1))
model.add(Dense(1))
model.compile(loss="mean_squared_error", optimizer="adam")
model.fit(trainX, trainY, epochs=2, batch_size=16, verbose=2)  # <- FIT102
