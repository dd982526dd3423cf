"""Features and labels are each split at random, with the same seed."""

from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from tensorflow.keras import Input, Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.utils import to_categorical


class Flowers:
    def __init__(self):
        iris = load_iris()
        self.measures = iris.data
        self.species = to_categorical(iris.target, 3)

    def split(self):
        x, x_val = train_test_split(self.measures, test_size=0.2, random_state=1)
        y, y_val = train_test_split(self.species, test_size=0.2, random_state=1)
        return (x, y), (x_val, y_val)


(x, y), validation = Flowers().split()
model = Sequential([Input((4,)), Dense(8, activation="relu"), Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, validation_data=validation, verbose=0)
