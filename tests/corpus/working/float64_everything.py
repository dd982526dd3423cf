import numpy as np
from sklearn.datasets import make_regression
from sklearn.model_selection import train_test_split
from tensorflow import keras

X, y = make_regression(n_samples=240, n_features=7, noise=3.0, random_state=0)
y = (y - y.mean()) / y.std()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
assert X_train.dtype == np.float64 and y_train.dtype == np.float64


def build():
    inp = keras.Input((7,))
    h = keras.layers.Dense(16, activation="relu")(inp)
    return keras.Model(inp, keras.layers.Dense(1)(h))


model = build()
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=2, batch_size=30, verbose=2)
