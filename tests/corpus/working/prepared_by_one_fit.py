"""A helper prepares both parts, but is fitted once; each column has an encoder of its own, each training its scaler."""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, StandardScaler
from tensorflow import keras

rng = np.random.default_rng(0)


class Prepare:
    def __init__(self):
        self.scaler, self.ready = StandardScaler(), False

    def __call__(self, table):
        if not self.ready:
            self.scaler.fit(table)
            self.ready = True
        return self.scaler.transform(table)


def scaled(table, scaler=None):
    if scaler is None:
        scaler = StandardScaler()
        return scaler.fit_transform(table), scaler
    return scaler.transform(table), scaler


def read(rows):
    table = pd.DataFrame(rng.normal(40.0, 9.0, size=(rows, 2)), columns=["depth", "width"])
    table["river"] = rng.choice(["Elbe", "Oder", "Rhein"], rows)
    table["kind"] = rng.choice(["calm", "wild"], rows)
    return table


train, test = read(120), read(40)
encoders = {name: LabelEncoder() for name in ("river", "kind")}
for name, encoder in encoders.items():
    train[name] = encoder.fit_transform(train[name])
for name, encoder in encoders.items():
    test[name] = encoder.transform(test[name])
prepare, narrow = Prepare(), MinMaxScaler()
x_train, x_test = prepare(train[["depth", "river"]]), prepare(test[["depth", "river"]])
y_train, y_test = narrow.fit_transform(train[["width"]]), narrow.transform(test[["width"]])
more_train, fitted = scaled(train[["depth", "river"]])
more_test, _ = scaled(test[["depth", "river"]], fitted)

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x_train, y_train, validation_data=(x_test, y_test), verbose=0)
model.fit(more_train, y_train, validation_data=(more_test, y_test), verbose=0)

# Training goes on with newer data, and with a scaler fitted to it.
scaler = StandardScaler()
model.fit(scaler.fit_transform(train[["depth", "river"]]), y_train, verbose=0)
newer = read(80)
newer["river"] = encoders["river"].transform(newer["river"])
model.fit(scaler.fit_transform(newer[["depth", "river"]]), newer["width"] / 90, verbose=0)
model.predict(scaler.transform(x_test), verbose=0)

kinds = read(200)
a, b, c, d = train_test_split(kinds[["depth", "width"]].values / 90, kinds["kind"].values)
# Both parts of a random split contain both kinds, so both encoders number them alike.
c, d = LabelEncoder().fit_transform(c), LabelEncoder().fit_transform(d)
judge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, activation="softmax")])
judge.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
judge.fit(a, c, validation_data=(b, d), verbose=0)
