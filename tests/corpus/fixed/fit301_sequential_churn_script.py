"""Churn prediction on a small synthetic customer table."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Input, Dense, Dropout

rng = np.random.default_rng(7)
n = 320
tenure = rng.uniform(0, 1, n)
charges = rng.normal(0, 1, n)
calls = rng.poisson(2, n) / 5.0
X = np.stack([tenure, charges, calls], axis=1).astype("float32")
y = ((charges - 2 * tenure + calls + rng.normal(0, 0.2, n)) > 0).astype("float32")

split = int(0.8 * n)
X_train, X_test = X[:split], X[split:]
y_train, y_test = y[:split], y[split:]

model = Sequential()
model.add(Input(shape=(3,)))
model.add(Dense(16, activation="relu"))
model.add(Dropout(0.2))
model.add(Dense(1, activation="sigmoid"))
model.summary()

model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(X_train, y_train, epochs=2, batch_size=32, verbose=2)
print(model.evaluate(X_test, y_test, verbose=0))
