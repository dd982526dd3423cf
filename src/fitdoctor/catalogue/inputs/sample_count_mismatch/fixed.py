"""Train on one part of a train-test split."""

import keras
import numpy as np
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(8)
habits = rng.normal(size=(80, 3)).astype("float32")
mood = habits.sum(axis=1)
x_train, x_test, y_train, y_test = train_test_split(habits, mood, test_size=0.25)

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x_train, y_train, epochs=1, verbose=0)
