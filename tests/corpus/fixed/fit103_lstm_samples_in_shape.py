import numpy as np
import pandas as pd
from keras.models import Sequential
from keras.layers import LSTM, Dense, Input
from sklearn.preprocessing import MinMaxScaler

# --- sensor readings, hourly -------------------------------------------------
rng = np.random.default_rng(0)
hours = np.arange(320)
frame = pd.DataFrame({
    "temp": 15 + 8 * np.sin(hours * 2 * np.pi / 24) + rng.normal(0, 1, hours.size),
    "load": 50 + 20 * np.cos(hours * 2 * np.pi / 24) + rng.normal(0, 3, hours.size),
})
scaled = MinMaxScaler().fit_transform(frame)


def to_supervised(values, n_in=12):
    X = np.stack([values[i:i + n_in] for i in range(len(values) - n_in)])
    y = values[n_in:, 1]
    return X, y


X, y = to_supervised(scaled)
X_train, y_train = X[:250], y[:250]
X_test, y_test = X[250:], y[250:]

model = Sequential()
model.add(Input(shape=X_train.shape[1:]))
model.add(LSTM(16))
model.add(Dense(1))
model.compile(optimizer="adam", loss="mae")
history = model.fit(X_train, y_train, epochs=2, batch_size=32,
                    validation_data=(X_test, y_test), verbose=2, shuffle=False)
