import keras
import numpy as np
from keras import layers

# Estimate the amount of "cloud" in small single-channel tiles.
rng = np.random.default_rng(21)
tiles = rng.random((240, 16, 16, 1)).astype("float32") ** 2
cover = tiles.reshape(240, -1).mean(axis=1)
cover = (cover - cover.mean()) / cover.std()

inputs = keras.Input(shape=(16, 16, 1))
x = layers.Conv2D(8, 3, strides=2, activation="relu")(inputs)
x = layers.Conv2D(16, 3, strides=2, activation="relu")(x)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(1)(x)

model = keras.Model(inputs, outputs, name="cloud_cover")
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
model.fit(tiles, cover, batch_size=24, epochs=2, validation_split=0.2, verbose=2)
