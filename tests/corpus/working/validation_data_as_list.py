import numpy as np
import keras
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

X, y = make_classification(n_samples=260, n_features=8, n_informative=5, random_state=1)
X_tr, X_va, y_tr, y_va = train_test_split(X.astype(np.float32), y, test_size=0.25, random_state=1)

clf = keras.Sequential([
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
clf.compile("adam", "binary_crossentropy", metrics=["accuracy"])
clf.fit(X_tr, y_tr, validation_data=[X_va, y_va], epochs=2, batch_size=16, verbose=2)
