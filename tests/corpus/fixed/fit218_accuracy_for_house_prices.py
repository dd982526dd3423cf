import numpy as np
import pandas as pd
from keras import Sequential, layers
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
n = 280
houses = pd.DataFrame({
    "rooms": rng.integers(2, 9, n),
    "crime": rng.gamma(1.0, 2.0, n),
    "distance": rng.uniform(0.5, 12, n),
})
houses["medv"] = 0.5 * houses["rooms"] - 0.2 * houses["crime"] - 0.1 * houses["distance"] + rng.normal(0, 0.2, n)

X = StandardScaler().fit_transform(houses.drop(columns="medv"))
y = houses["medv"].to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)

model = Sequential([
    layers.Input((3,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])
model.compile(loss="mse", optimizer="adam", metrics=["mae"])
model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=2, verbose=2)
