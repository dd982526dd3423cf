"""A scaler is fitted to the test prices again, only to turn predictions back into prices."""

import numpy as np
from sklearn.preprocessing import MinMaxScaler
from tensorflow import keras

rng = np.random.default_rng(0)
train, test = rng.normal(100.0, 10.0, (64, 3)), rng.normal(100.0, 10.0, (16, 3))
scaler = MinMaxScaler()
train_scaled = scaler.fit_transform(train)
test_scaled = scaler.transform(test)

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mae")
model.fit(train_scaled[:, 1:], train_scaled[:, 0], epochs=2, verbose=0)

predicted = model.predict(test_scaled[:, 1:], verbose=0)
scaler.fit_transform(test[:, :1])
print(scaler.inverse_transform(predicted)[:3])
