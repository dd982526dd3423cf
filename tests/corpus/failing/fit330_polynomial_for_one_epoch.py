import keras
import numpy as np

BATCH, EPOCHS = 16, 8

rng = np.random.default_rng(36)
x = rng.normal(size=(400, 5)).astype("float32")
y = rng.normal(size=(400, 1)).astype("float32")
steps = len(x) // BATCH
rate = keras.optimizers.schedules.PolynomialDecay(1e-2, steps, end_learning_rate=0.0)  # <- FIT330
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(rate), "mae")
model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)
