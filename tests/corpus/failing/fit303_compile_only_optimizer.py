import numpy as np
import keras
from keras import layers


def two_moons(n, rng):
    t = rng.uniform(0, np.pi, n)
    label = rng.integers(0, 2, n)
    x = np.where(label == 0, np.cos(t), 1 - np.cos(t))
    y = np.where(label == 0, np.sin(t), 0.5 - np.sin(t))
    return np.stack([x, y], 1) + rng.normal(0, 0.05, (n, 2)), label


rng = np.random.default_rng(5)
X, labels = two_moons(300, rng)

model = keras.Sequential(
    [
        keras.Input((2,)),
        layers.Dense(16, activation="tanh"),
        layers.Dense(16, activation="tanh"),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", metrics=["accuracy"])  # <- FIT303
model.fit(X, labels, epochs=2, batch_size=30, verbose=2)
