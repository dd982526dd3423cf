import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(8)
vibration = rng.normal(size=(120, 30, 2)).astype("float32")
faulty = (vibration[:, :, 0].std(axis=1) > 1.0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((30, 2)),
        layers.GRU(16, return_sequences=True),
        layers.Dropout(0.2),
        layers.GRU(8),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(vibration, faulty, epochs=2, verbose=0)
