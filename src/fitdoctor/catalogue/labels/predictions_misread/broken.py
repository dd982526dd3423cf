"""Count the patients that a classifier of one unit assigns to class 1 (silent)."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(2)
x = rng.normal(size=(240, 5)).astype("float32")
y = (x[:, 0] + x[:, 3] > 0).astype("float32")

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, y, epochs=5, verbose=0)

scores = model.predict(x, verbose=0)
classes = np.argmax(scores, axis=1)  # <- FIT221
print(f"{np.mean(classes == y):.0%} right, {classes.sum()} of class 1")
