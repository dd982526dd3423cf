import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)
images = rng.random((200, 28, 28)).astype("float32")
digits = rng.integers(1, 11, size=200)

model = keras.Sequential(
    [
        keras.Input(shape=(784,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["acuracy"])
model.fit(images, digits, epochs=2, verbose=0)
