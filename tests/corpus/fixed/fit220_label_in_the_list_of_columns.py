"""The features are the columns before the label."""

import io

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

COLUMNS = ["acid", "sugar", "quality"]

rng = np.random.default_rng(1)
made = pd.DataFrame(rng.normal(size=(150, 4)).round(3), columns=[*COLUMNS, "id"])
wines = pd.read_csv(io.StringIO(made.to_csv(index=False))).dropna()


def select(table):
    features = table[COLUMNS[:2]]
    return features.values, table["quality"].values


x, y = select(wines)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
scaler = StandardScaler().fit(x_train)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(scaler.transform(x_train), y_train, validation_data=(scaler.transform(x_test), y_test), verbose=0)
