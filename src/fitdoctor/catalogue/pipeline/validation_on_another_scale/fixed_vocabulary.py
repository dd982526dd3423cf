"""Number the words of all reviews by the vocabulary of the training data."""

import keras
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

counter = CountVectorizer(max_features=4)
x_train = counter.fit_transform(["good plot", "bad plot", "good end", "bad cast", "good cast", "bad end"] * 8)
x_test = counter.transform(["bad songs", "songs good", "bad film", "film good"] * 4)
x_train, x_test = x_train.toarray(), x_test.toarray()
y_train, y_test = np.array([1, 0, 1, 0, 1, 0] * 8), np.array([0, 1, 0, 1] * 4)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x_train, y_train, verbose=0)
model.evaluate(x_test, y_test, verbose=0)
