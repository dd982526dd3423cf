"""Every fold has a scaler, and so have the targets; nothing is fitted to held-out data."""

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tensorflow import keras

rng = np.random.default_rng(5)
X = rng.normal(size=(90, 4)).astype("float32")
y = X @ rng.normal(size=(4, 1)).astype("float32")
for train, test in KFold(3).split(X):
    scaler = StandardScaler()
    x_train = scaler.fit_transform(X[train])
    x_test = scaler.transform(X[test])
    target_scaler = MinMaxScaler()
    y_train = target_scaler.fit_transform(y[train])
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x_train, y_train, epochs=1, verbose=0)
    predicted = target_scaler.inverse_transform(model.predict(x_test, verbose=0))

# A separate study of the test distribution, with its own scaler.
test_scaler = StandardScaler()
described = test_scaler.fit_transform(X[:20])
print(predicted.shape, described.shape)
