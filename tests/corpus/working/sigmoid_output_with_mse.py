import numpy as np
import keras

rng = np.random.default_rng(1)
x = rng.normal(size=(220, 6)).astype("float32")
occupancy = 1 / (1 + np.exp(-(x[:, 0] - x[:, 4])))         # a share, 0..1

model = keras.Sequential([
    keras.Input((6,)),
    keras.layers.Dense(12, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(x, occupancy, epochs=2, batch_size=20, validation_split=0.2, verbose=2)
