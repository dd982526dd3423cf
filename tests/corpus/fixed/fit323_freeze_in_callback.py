import numpy as np
from tensorflow import keras


rng = np.random.default_rng(0)
ids = rng.integers(0, 80, (200, 15))
target = (ids < 20).mean(axis=1).astype("float32")

model = keras.Sequential([
    keras.Input((15,), dtype="int32"),
    keras.layers.Embedding(80, 8, name="words"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(ids, target, epochs=2, batch_size=25, verbose=0)
model.get_layer("words").trainable = False
model.compile(optimizer="adam", loss="mse")
model.fit(ids, target, epochs=2, batch_size=25, verbose=0)
