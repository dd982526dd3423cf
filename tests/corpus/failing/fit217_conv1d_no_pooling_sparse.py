import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

CLASSES = 4


def load_ecg(n=160, length=60):
    rng = np.random.default_rng(6)
    y = rng.integers(0, CLASSES, n)
    t = np.linspace(0, 1, length)
    x = np.sin(2 * np.pi * (2 + 3 * y[:, None]) * t) + rng.normal(0, 0.1, (n, length))
    return x[..., None].astype("float32"), y


x, y = load_ecg()
model = keras.Sequential([
    layers.Input((60, 1)),
    layers.Conv1D(8, 7, activation="relu"),
    layers.MaxPooling1D(2),
    layers.Bidirectional(
        layers.GRU(8, return_sequences=True)),  # <- FIT217
    layers.Dense(16, activation="relu"),
    layers.Dense(CLASSES, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=16, verbose=2)
