import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.python.keras.layers import Dense, Dropout  # <- FIT903

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 7))
y = (X[:, 0] > 0.3).astype("float32")

model = Sequential()
model.add(tf.keras.Input((7,)))
model.add(Dense(16, activation="relu"))
model.add(Dropout(0.2))
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=15, verbose=2)
