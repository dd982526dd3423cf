"""`run_eagerly=True` fixes the error.

It shows where the error comes from, which is useful for an hour. It does not repair wrong shapes or labels: the same
data is rejected, with another message. And it hides mistakes that come back when it is removed, because Python code
then runs in every step instead of once. Every step is slower.
"""

import keras
import numpy as np

x, y = np.random.rand(32, 4), np.random.randint(1, 11, 32)
y[0] = 10  # the model has the classes 0 to 9


def raised(eager):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10, activation="softmax")])
    model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", run_eagerly=eager)
    try:
        model.fit(x, y, verbose=0)
    except Exception as error:
        return error
    return None


for eager in (False, True):
    assert "outside the valid range of [0, 10)" in str(raised(eager))
