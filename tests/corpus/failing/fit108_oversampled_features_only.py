import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
from tensorflow import keras

X = np.random.rand(100, 6)
y = (np.random.rand(100) > 0.8).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=3)
minority = X_train[y_train == 1]
extra = resample(minority, n_samples=40, random_state=1)
X_train = np.vstack([X_train, extra])  # <- FIT108
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(X_train, y_train, epochs=1, verbose=0)
