import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

CLASS_NAMES = ["shirt", "trouser", "dress", "coat", "sandal"]


def load_fashion(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASS_NAMES), n)
    x = rng.integers(0, 80, (n, 28, 28)).astype("uint8")
    for i, k in enumerate(y):
        x[i, k * 5:k * 5 + 5] += 150
    return x, y


x_train, y_train = load_fashion(200, 0)
x_test, y_test = load_fashion(50, 1)
x_train = x_train.astype("float32") / 255
x_test = x_test.astype("float32") / 255

model = keras.Sequential([
    layers.Input((28, 28)),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(len(CLASS_NAMES), activation="softmax"),
])
model.compile(optimizer="adam",
              loss="categorical_crossentropy",  # <- FIT201
              metrics=["accuracy"])
model.fit(x_train, y_train, epochs=2, validation_data=(x_test, y_test))  # <~ FIT201
