"""Learn exclusive or."""

import keras

bits = [[0, 0], [0, 1], [1, 0], [1, 1]]  # <- FIT107
differ = [0, 1, 1, 0]

model = keras.Sequential([
    keras.Input((2,)),
    keras.layers.Dense(8, activation="tanh"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(bits, differ, epochs=2, verbose=0)
