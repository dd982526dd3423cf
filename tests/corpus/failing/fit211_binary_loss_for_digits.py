import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(1)
digits = rng.integers(0, 10, 400)
pictures = rng.random((400, 8, 8)).astype("float32")
pictures[np.arange(400), digits % 8] += 1.0

x = pictures.reshape(-1, 64)
y = keras.utils.to_categorical(digits, 10)

model = keras.Sequential(
    [
        keras.Input((64,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])  # <- FIT211
model.fit(x, y, epochs=2, batch_size=32, verbose=2)
