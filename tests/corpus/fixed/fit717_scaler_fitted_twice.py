import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

rng = np.random.default_rng(11)
X = rng.normal(loc=40.0, scale=12.0, size=(300, 5))
y = (X[:, 0] + X[:, 1] > 82).astype("float32")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)

sc = StandardScaler()
X_train = sc.fit_transform(X_train)
X_test = sc.transform(X_test)

model = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=2, batch_size=32, verbose=0)
print(model.evaluate(X_test, y_test, verbose=0))
