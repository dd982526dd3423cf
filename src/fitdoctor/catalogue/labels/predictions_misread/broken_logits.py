"""Apply a threshold of 0.5 to the logits of a spam filter (silent)."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
x = rng.normal(size=(240, 5)).astype("float32")
y = (x[:, 0] + x[:, 3] > 0).astype("float32")

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, epochs=5, verbose=0)

spam = model.predict(x, verbose=0).flatten() > 0.5  # <- FIT221
print(f"{np.mean(spam == y):.0%} right")
