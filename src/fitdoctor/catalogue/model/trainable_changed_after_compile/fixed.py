import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 8)).astype("float32")
y = np.abs(x[:, :4]).sum(axis=1)

base = keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="relu")], name="base")
base.trainable = False
model = keras.Sequential([base, layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=1, verbose=0)

base.trainable = True
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=2, verbose=0)
