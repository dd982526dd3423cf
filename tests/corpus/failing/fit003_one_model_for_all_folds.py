import numpy as np
from sklearn.model_selection import KFold
from tensorflow import keras


def build(features):
    model = keras.Sequential([keras.Input((features,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


def cross_validate(x, y, folds):
    scores = []
    model = build(x.shape[1])  # <- FIT003
    for train, test in KFold(folds, shuffle=True, random_state=0).split(x):
        model.fit(x[train], y[train], epochs=3, verbose=0)
        scores.append(model.evaluate(x[test], y[test], verbose=0)[1])
    return scores


rng = np.random.default_rng(0)
x = rng.normal(size=(120, 8)).astype("float32")
print(cross_validate(x, x[:, 0] * x[:, 1] + rng.normal(size=120), 3))
