"""Churn of telephone customers; the accuracy is printed, but was never asked for."""

import numpy as np
from keras import Input, Sequential
from keras.layers import Dense

rng = np.random.default_rng(7)
minutes = rng.random((120, 6)).astype("float32")
left = (minutes.sum(axis=1) > 3).astype("float32")

net = Sequential([Input((6,)), Dense(12, activation="relu"), Dense(1, activation="sigmoid")])
net.compile(optimizer="adam", loss="binary_crossentropy")
past = net.fit(minutes, left, epochs=2, batch_size=30, verbose=0)
print(f"final accuracy {past.history['accuracy'][-1]:.2f}")  # <- FIT322
