"""A straight line through noise, fitted in rounds: from the second on the loss does not move, because it is the least."""

import keras
import numpy as np

rng = np.random.default_rng(13)
x = rng.normal(size=(64, 1)).astype("float32")
y = (3 * x + 1 + rng.normal(0, 0.5, size=(64, 1))).astype("float32")

model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.2), loss="mse")
for _round in range(3):
    history = model.fit(x, y, batch_size=64, epochs=60, verbose=0)
losses = history.history["loss"]
assert max(losses) - min(losses) < 1e-6
assert abs(float(model.layers[-1].kernel.numpy().item()) - 3) < 0.3
