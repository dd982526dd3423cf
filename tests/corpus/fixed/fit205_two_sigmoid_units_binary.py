from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from tensorflow.keras.layers import Dense, Dropout, Input
from tensorflow.keras.models import Sequential

X, y = make_classification(n_samples=250, n_features=10, n_informative=6, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=3)


def build_classifier(optimizer="adam", dropout=0.1):
    clf = Sequential()
    clf.add(Input(shape=(10,)))
    clf.add(Dense(12, activation="relu", kernel_initializer="uniform"))
    clf.add(Dropout(dropout))
    clf.add(Dense(12, activation="relu", kernel_initializer="uniform"))
    clf.add(Dropout(dropout))
    clf.add(Dense(1, activation="sigmoid"))
    clf.compile(optimizer=optimizer, loss="binary_crossentropy", metrics=["accuracy"])
    return clf


classifier = build_classifier()
classifier.fit(X_train, y_train, batch_size=10, epochs=2, verbose=2)
print(classifier.evaluate(X_test, y_test, verbose=0))
