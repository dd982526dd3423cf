import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam

X, y = make_classification(n_samples=210, n_features=6, random_state=1)
X = X.astype("float32")
LR = 1e-2


def create():
    model = Sequential([Input((6,)), Dense(12, activation="relu"), Dense(1, activation="sigmoid")])
    model.compile(Adam(learning_rate=LR), "binary_crossentropy", metrics=["accuracy"])
    return model


scores = []
for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
    model = create()
    model.fit(X[train], y[train], validation_data=(X[test], y[test]), epochs=2, batch_size=14, verbose=0)
    scores.append(model.evaluate(X[test], y[test], verbose=0)[1])
print(np.mean(scores))
