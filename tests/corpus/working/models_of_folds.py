"""Cross-validation whose folds start from the same weights: restored, cloned, or built by a wrapper; and a split of one part."""
import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit
from tensorflow import keras

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
start = model.get_weights()
rng = np.random.default_rng(0)
x = rng.normal(size=(90, 8)).astype("float32")
y = x[:, 0] + rng.normal(size=90)

for train, test in KFold(3).split(x):
    model.set_weights(start)
    model.fit(x[train], y[train], verbose=0)
    print(model.evaluate(x[test], y[test], verbose=0))

for fold, (train, test) in enumerate(KFold(3).split(x)):
    fresh = keras.models.clone_model(model)
    fresh.compile("adam", "mse")
    fresh.fit(x[train], y[train], validation_data=(x[test], y[test]), verbose=0)


def reset(network, weights):
    network.set_weights(weights)


for train, test in ShuffleSplit(2, random_state=0).split(x):
    reset(model, start)
    model.fit(x[train], y[train], validation_data=(x[test], y[test]), verbose=0)

for part, _ in KFold(3).split(x):
    model.fit(x[part], y[part], verbose=0)  # goes through the data in parts, and tests on none of it
