import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(2)
y = rng.integers(0, 2, 100)
chw = rng.random((100, 3, 16, 16)).astype("float32") * 0.5
chw[y == 1, 1] += 0.4

model = keras.Sequential([
    keras.Input((3, 16, 16)),
    layers.Permute((2, 3, 1)),             # to channels last inside the model
    layers.Conv2D(6, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(chw, y, epochs=2, batch_size=20, verbose=2)
