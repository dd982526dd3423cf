import tensorflow as tf
import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

np.random.seed(2)
X = np.random.randn(150, 6)
y = (X[:, 0] > X[:, 1]).astype(int)

model = Sequential()
model.add(Input((6,)))
model.add(Dense(12, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=10, verbose=2)
