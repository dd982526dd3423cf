"""Number the words of the test reviews with another vocabulary (silent)."""

import keras
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer


def word_counts(reviews):
    counter = CountVectorizer(max_features=4)
    return counter.fit_transform(reviews).toarray()  # <- FIT717


x_train = word_counts(["good plot", "bad plot", "good end", "bad cast", "good cast", "bad end"] * 8)
x_test = word_counts(["bad songs", "songs good", "bad film", "film good"] * 4)
y_train, y_test = np.array([1, 0, 1, 0, 1, 0] * 8), np.array([0, 1, 0, 1] * 4)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x_train, y_train, verbose=0)
model.evaluate(x_test, y_test, verbose=0)
