import keras
import numpy as np

EPOCHS = 30


def optimizer():
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([10 * 20, 20 * 20], [1e-1, 1e-2, 1e-3])
    return keras.optimizers.SGD(schedule)


rng = np.random.default_rng(35)
x = rng.normal(size=(640, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1))).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer(), "mse")
model.fit(x, y, epochs=EPOCHS, batch_size=32, verbose=0)
