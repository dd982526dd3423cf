import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam

X, y = make_classification(n_samples=240, n_features=8, random_state=0)
X = X.astype("float32")

kfold = StratifiedKFold(n_splits=3, shuffle=True, random_state=0)
scores = []

for train, test in kfold.split(X, y):
    model = Sequential()
    model.add(Input((8,)))
    model.add(Dense(12, activation="relu"))
    model.add(Dense(1, activation="sigmoid"))
    optimizer = Adam(learning_rate=1e-3)
    model.compile(loss="binary_crossentropy", optimizer=optimizer, metrics=["accuracy"])
    model.fit(X[train], y[train], epochs=2, batch_size=20, verbose=0)
    scores.append(model.evaluate(X[test], y[test], verbose=0)[1])

print("%.2f (+/- %.2f)" % (np.mean(scores), np.std(scores)))
