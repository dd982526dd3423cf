import numpy as np
from sklearn.preprocessing import MinMaxScaler
from tensorflow.keras.layers import Dense, Dropout, LSTM, Input
from tensorflow.keras.models import Sequential

TIME_STEPS = 15


def stock(n=260):
    rng = np.random.default_rng(0)
    return np.cumsum(rng.normal(0, 1, n)).reshape(-1, 1)


def windows(scaled):
    X, y = [], []
    for i in range(TIME_STEPS, len(scaled)):
        X.append(scaled[i - TIME_STEPS:i, 0])
        y.append(scaled[i, 0])
    X, y = np.array(X), np.array(y)
    return X.reshape(X.shape[0], TIME_STEPS, 1), y


X_train, y_train = windows(MinMaxScaler().fit_transform(stock()))

regressor = Sequential()
regressor.add(Input(shape=(TIME_STEPS, 1)))
regressor.add(LSTM(units=16, return_sequences=True))
regressor.add(Dropout(0.2))
regressor.add(LSTM(units=16, return_sequences=True))  # <- FIT217
regressor.add(Dropout(0.2))
regressor.add(Dense(units=1))
regressor.compile(optimizer="adam", loss="mean_squared_error")
regressor.fit(X_train, y_train, epochs=2, batch_size=32, verbose=2)
