import numpy as np
from tensorflow import keras
from sklearn.datasets import make_moons

X, y = make_moons(n_samples=240, noise=0.15, random_state=0)

model = keras.Sequential(name="moons")
model.add(keras.layers.Input((2,)))
model.add(keras.layers.Dense(16, activation="relu"))
model.add(keras.layers.Dense(1, activation="sigmoid"))

model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.01),
    loss=keras.losses.BinaryCrossentropy(),
    metrics=[keras.metrics.Accuracy()],  # <- FIT218
)
history = model.fit(X, y, batch_size=24, epochs=2, verbose=2)
print({k: np.round(v, 3).tolist() for k, v in history.history.items()})
