"""Weights of scikit-learn, numbered in several ways."""

import numpy as np
from sklearn.utils import class_weight
from sklearn.utils.class_weight import compute_class_weight
import keras
x, y = np.random.rand(90, 4), np.random.randint(0, 3, 90)
w = class_weight.compute_class_weight(class_weight='balanced', classes=np.unique(y), y=y)
v = compute_class_weight('balanced', classes=np.array([0, 1, 2]), y=y)
def train(cw):
    m = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    m.compile("adam", "sparse_categorical_crossentropy")
    m.fit(x, y, epochs=1, verbose=0, class_weight=cw)
train(dict(enumerate(w)))
train(dict(zip(np.unique(y), v)))
train({i: w[i] for i in range(3)})
train({0: w[0], 1: w[1], 2: w[2]})
class_weights = {}
for i, one in enumerate(v):
    class_weights[i] = one
train(class_weights)
m = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(x, y, epochs=1, verbose=0, class_weight=dict(enumerate(w)))
m.fit(x, y, epochs=1, verbose=0, class_weight={i: a for i, a in enumerate(v)})
