import keras
import numpy as np

BATCH, EPOCHS = 16, 6
rng = np.random.default_rng(37)
x = rng.normal(size=(320, 5)).astype("float32")
y = rng.normal(size=(320, 1)).astype("float32")
steps = len(x) // BATCH
schedules = keras.optimizers.schedules
for rate in (
    schedules.CosineDecay(1e-3, steps * (EPOCHS - 1), warmup_target=2e-3, warmup_steps=steps),
    schedules.PolynomialDecay(1e-3, 10, end_learning_rate=1e-3),
    schedules.PiecewiseConstantDecay([steps, 2 * steps], [1e-4, 1e-3, 1e-3]),
    schedules.ExponentialDecay(1e-3, steps, 0.5),
):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(rate), "mae")
    model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)
