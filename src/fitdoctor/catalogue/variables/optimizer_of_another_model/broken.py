"""Three models trained one after the other."""

import keras
import numpy as np

rng = np.random.default_rng(15)
x = rng.normal(size=(90, 4)).astype("float32")
y = x.mean(axis=1, keepdims=True)

adam = keras.optimizers.Adam(1e-2)  # <- FIT504
for width in (4, 8, 16):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(1)]
    )
    model.compile(optimizer=adam, loss="mse")
    history = model.fit(x, y, epochs=2, verbose=0)
    print(width, history.history["loss"][-1])
