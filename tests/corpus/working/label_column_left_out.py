"""The label's column leaves the table in many ways, or it is the past of what is forecast."""

import numpy as np
import pandas as pd
from tensorflow import keras

rng = np.random.default_rng(0)


def read():
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["low", "high", "close"])
    table["grade"] = table["low"] - table["high"]
    return table


def fit(features, labels):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(features, labels, verbose=0)


first = read()
grades = first["grade"]
for name in ["grade", "low"]:
    first = first.drop(name, axis=1)
fit(first.values, grades)

second = read()
grades = second["grade"].copy()
second.drop("grade", axis=1, inplace=True)
fit(second.to_numpy(), grades)

third = read()
grades = third["grade"]
fit(third[[name for name in third.columns if name != "grade"]], grades)
fit(third.iloc[:, :-1], third.iloc[:, -1])
fit(third.values[:, 0:3], third.values[:, 3])
del third["grade"]
fit(third, grades)

fourth = read()
grades = fourth["grade"].values
fourth["grade"] = 0.0
fit(fourth.values, grades)

prices = read()
fit(prices.values[:-1], prices["close"].values[1:])
fit(prices.values[:59], prices["close"].shift(-1).values[:59])
fit(prices[["close"]], prices["close"])
