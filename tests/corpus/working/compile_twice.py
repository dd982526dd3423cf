import numpy as np
from tensorflow.keras.layers import Dense, Dropout, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import SGD, Adam

rng = np.random.default_rng(0)
x = rng.normal(size=(160, 7))
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

model = Sequential([Input((7,)), Dense(16, activation="relu"), Dropout(0.1), Dense(1, activation="sigmoid")])
model.compile(optimizer=Adam(1e-2), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, batch_size=16, verbose=0)

# second stage with another optimizer and another objective
model.compile(optimizer=SGD(1e-3, momentum=0.9), loss="mse", metrics=["mae"])
model.fit(x, y, epochs=1, batch_size=16, verbose=2)
