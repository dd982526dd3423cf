import keras
import numpy as np

rng = np.random.default_rng(0)
images = rng.random((1000, 28, 28)).astype("float32")
digits = rng.integers(1, 11, 1000)  # ten classes, counted from 1

model = keras.Sequential(
    [
        keras.Input((28, 28)),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, digits, epochs=2, verbose=0)
print("trained")
