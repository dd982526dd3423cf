"""One array is reordered and another is not: a control with random labels, mixed backgrounds, parts of the data."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.normal(size=(90, 4)).astype("float32")
y = (x[:, 0] > 0).astype("float32")


def fitted(features, labels):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(features, labels, verbose=0)
    return model


fitted(x, y)
# A control experiment: how well does the model learn labels that mean nothing?
y_random = rng.permutation(y)
fitted(x, y_random)

order = rng.permutation(len(x))
fitted(0.7 * x + 0.3 * x[order], 0.7 * y + 0.3 * y[order])
fitted(x + 0.05 * x[order], y)  # another sample as background noise

dry, wet = x[:30].copy(), x[30:].copy()
np.random.shuffle(wet)
both = np.concatenate([dry, wet[:30]])
model = fitted(both, np.concatenate([np.zeros(30), np.ones(30)]))

for column in range(4):
    without = x.copy()
    np.random.shuffle(without[:, column])
    print(column, model.evaluate(without, y, verbose=0))
