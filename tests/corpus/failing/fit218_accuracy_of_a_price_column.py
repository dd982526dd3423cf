import io

import numpy as np
import pandas as pd
from keras import Sequential, layers
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
rooms, age = rng.integers(2, 9, 240), rng.uniform(0, 3, 240).round(2)
price = (0.5 * rooms - 0.2 * age + rng.normal(0, 0.2, 240)).round(3)
table = pd.DataFrame({"rooms": rooms, "age": age, "price": price})

houses = pd.read_csv(io.StringIO(table.to_csv(index=False)))
X = houses.drop("price", axis=1)
y = houses["price"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)

model = Sequential([layers.Input((2,)), layers.Dense(16, activation="relu"), layers.Dense(1)])
model.compile(loss="mse", optimizer="adam", metrics=["accuracy"])  # <- FIT218
model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=2, verbose=2)
