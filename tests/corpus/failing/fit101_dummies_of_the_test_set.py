import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder
from tensorflow import keras

train = pd.DataFrame({"city": ["a", "b", "c", "d"] * 10, "v": np.random.rand(40)})
test = pd.DataFrame({"city": ["a", "b"] * 5, "v": np.random.rand(10)})
y = np.random.rand(40)
X_train = pd.get_dummies(train, dtype="float32")
X_test = pd.get_dummies(test, dtype="float32")  # <- FIT101
model = keras.Sequential([keras.Input((X_train.shape[1],)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(X_train, y, epochs=1, verbose=0)
print(model.predict(X_test, verbose=0).shape)  # <~ FIT101
