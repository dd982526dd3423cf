import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(2)
x = rng.random((96, 16, 16)).astype("float32")
y = rng.integers(0, 4, size=96)

model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.Flatten(),
        layers.Dropout(25),
        layers.Dense(4, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epoch=2, verbose=0)
