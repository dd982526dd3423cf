"""A function that trains a classifier and gives back what fit gave back."""

import numpy as np
from keras.layers import Dense, Input
from keras.models import Sequential


def train(features, labels):
    model = Sequential([Input((4,)), Dense(8, activation="relu"), Dense(1, activation="sigmoid")])
    model.compile(loss="binary_crossentropy", optimizer="adam")
    model = model.fit(features, labels, epochs=1, verbose=0)  # <- FIT310
    return model


features, labels = np.random.rand(40, 4), np.random.randint(0, 2, 40)
classifier = train(features, labels)
print(classifier.predict(features[:3], verbose=0))
