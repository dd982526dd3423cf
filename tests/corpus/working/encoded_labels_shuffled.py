"""Encoded labels, shuffled together with the features."""

import numpy as np
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import shuffle
import keras
from keras import layers
from keras.utils import to_categorical

names = np.array(["cat", "dog", "bird"] * 10)
X = np.random.rand(30, 4)
y = LabelEncoder().fit_transform(names)
X1, y = shuffle(X, y, random_state=0)
m = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="softmax")])
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(X1, y, verbose=0)
le = LabelEncoder()
labels = le.fit_transform(names)
labels = to_categorical(labels)
X1, labels = shuffle(X, labels)
m.compile("adam", "categorical_crossentropy")
m.fit(X1, labels, verbose=0)
from sklearn.model_selection import train_test_split

names2 = ["cat", "dog", "bird"] * 10
y = le.fit_transform(names2)
X2, Y2 = shuffle(X, y)
a, b, c, d = train_test_split(X2, Y2, test_size=0.2)
m.compile("adam", "sparse_categorical_crossentropy")
m.fit(a, c, validation_data=(b, d), verbose=0)
import pandas as pd

df = pd.DataFrame(X, columns=list("abcd"))
df["species"] = names
df = shuffle(df)
df["species"] = le.fit_transform(df["species"])
m.fit(df[list("abcd")].values, df["species"].values, verbose=0)
