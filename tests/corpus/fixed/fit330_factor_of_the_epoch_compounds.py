import numpy as np
from tensorflow import keras

rng = np.random.default_rng(6)
x = rng.normal(size=(256, 8)).astype("float32")
y = x @ rng.normal(size=(8, 1)).astype("float32")

FIRST_RATE = 1e-2


def decayed(epoch, rate):
    if epoch < 2:
        return rate
    return rate * np.exp(-0.3)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(FIRST_RATE), loss="mse")
model.fit(x, y, epochs=12, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(decayed)])
print(float(model.optimizer.learning_rate))
