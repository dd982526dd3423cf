from sklearn.datasets import make_regression
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

X, Y = make_regression(n_samples=200, n_features=6, n_targets=4, random_state=2)
Y = StandardScaler().fit_transform(Y)

model = keras.Sequential([
    keras.layers.Input((6,)),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(4),
])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(X, Y, batch_size=20, epochs=2, validation_split=0.2, verbose=2)
