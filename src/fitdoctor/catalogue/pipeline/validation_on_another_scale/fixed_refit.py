"""Train on standardized features (silent)."""

import keras
import numpy as np
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(4)
x_train = rng.normal(60.0, 9.0, size=(256, 3))
x_test = rng.normal(64.0, 9.0, size=(64, 3))
y_train, y_test = (x_train.sum(axis=1) > 180).astype("float32"), (x_test.sum(axis=1) > 180).astype("float32")

scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x_train, y_train, verbose=0)
model.evaluate(x_test, y_test, verbose=0)
