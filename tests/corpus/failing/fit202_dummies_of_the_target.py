import pandas as pd
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from keras.models import Sequential
from keras.layers import Dense

iris = load_iris()
X = iris.data
Y = pd.get_dummies(iris.target).values  # <- FIT202
X_train, X_test, y_train, y_test = train_test_split(X, Y, test_size=0.2, random_state=0)
model = Sequential()
model.add(Dense(10, input_dim=4, activation="relu"))
model.add(Dense(3, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])  # <~ FIT202
model.fit(X_train, y_train, epochs=1, batch_size=5, verbose=0)
