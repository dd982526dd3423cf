import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, Dense, Flatten, Input

IMG_H = IMG_W = 512
rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 4).astype("float32")
scans = rng.random((4, IMG_H, IMG_W, 1), dtype="float32") * 0.5
scans[labels == 1] += 0.3

model = Sequential()
model.add(Input((IMG_H, IMG_W, 1)))
model.add(Conv2D(32, 3, strides=2, activation="relu"))
model.add(Conv2D(64, 3, activation="relu"))
model.add(Flatten())  # <- FIT805
model.add(Dense(4096, activation="relu"))  # <~ FIT805
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(scans, labels, batch_size=1, epochs=1, verbose=2)
