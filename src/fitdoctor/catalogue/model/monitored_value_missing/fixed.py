import numpy as np
from tensorflow import keras
from tensorflow.keras.callbacks import EarlyStopping

rng = np.random.default_rng(0)
x = rng.normal(size=(300, 8)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

stop = EarlyStopping(monitor="val_accuracy", patience=2)
model.fit(x, y, validation_split=0.2, epochs=3, verbose=0, callbacks=[stop])
