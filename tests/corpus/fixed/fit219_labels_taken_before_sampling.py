"""The labels leave the table after its rows are shuffled."""

import io

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

rng = np.random.default_rng(1)
made = pd.DataFrame(rng.normal(size=(150, 3)).round(3), columns=["age", "pressure", "pulse"])
made["ill"] = (made["pressure"] > 0).astype(int)
patients = pd.read_csv(io.StringIO(made.to_csv(index=False)))


def parts(table):
    table = table.sample(frac=1).reset_index(drop=True)
    ill = table["ill"].values
    features = StandardScaler().fit_transform(table.drop("ill", axis=1))
    return features[:120], ill[:120], features[120:], ill[120:]


x_train, y_train, x_test, y_test = parts(patients)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=2, validation_data=(x_test, y_test), verbose=0)
