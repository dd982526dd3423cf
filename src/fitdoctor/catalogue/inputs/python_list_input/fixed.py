"""Learn exclusive or."""

import keras
import numpy as np

bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
differ = np.array([0, 1, 1, 0])

model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(8, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(bits, differ, epochs=2, verbose=0)
