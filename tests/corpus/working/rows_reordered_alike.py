"""Features and labels are reordered by separate calls, but always in the same order."""

import random

import numpy as np
from sklearn.model_selection import train_test_split
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.normal(size=(80, 4)).astype("float32")
y = (x.sum(axis=1) > 0).astype("float32")


def mixed(rows, seed=7):
    return rows[np.random.default_rng(seed).permutation(len(rows))]


np.random.seed(1)
np.random.shuffle(x)
np.random.seed(1)
np.random.shuffle(y)

state = np.random.get_state()
np.random.shuffle(x)
np.random.set_state(state)
np.random.shuffle(y)

x, y = mixed(x), mixed(y)
x_train, x_val = train_test_split(x, test_size=0.2, random_state=42)
y_train, y_val = train_test_split(y, test_size=0.2, random_state=42)

# The names of the samples are shuffled; what belongs to them is looked up later.
names = [f"{number}-{'wet' if number % 3 else 'dry'}" for number in range(60)]
random.shuffle(names)
inputs = np.array([[int(name.split("-")[0]) / 60, 1.0, 0.0, 0.0] for name in names])
wet = np.array([name.endswith("wet") for name in names]).astype("float32")

random.seed(4)
random.shuffle(names)
rows = [[len(name) / 10, 0.0, 1.0, 0.0] for name in names]
random.seed(4)
wet_again = list(wet)
random.shuffle(wet_again)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x_train, y_train, validation_data=(x_val, y_val), verbose=0)
model.fit(inputs, wet, verbose=0)
model.fit(np.array(rows), np.array(wet_again), verbose=0)
