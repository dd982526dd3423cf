import numpy as np
from tensorflow import keras

rng = np.random.default_rng(0)
X = rng.normal(size=(18, 3))
y = X @ np.array([0.5, -1.0, 2.0])

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
history = model.fit(X, y, batch_size=64, epochs=20, verbose=0)
print(history.history["loss"][0], "->", history.history["loss"][-1])
