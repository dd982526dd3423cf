import numpy as np
import pandas as pd
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder


def load_wine(n=240):
    rng = np.random.default_rng(4)
    kinds = rng.choice(["barbera", "grignolino", "barolo"], n)
    shift = {"barbera": -1.0, "grignolino": 0.0, "barolo": 1.0}
    X = rng.normal(size=(n, 6)) + np.array([[shift[k]] for k in kinds])
    return X, pd.Series(kinds, name="wine")


class WineTrainer:
    def __init__(self, hidden=16):
        self.encoder = LabelEncoder()
        self.hidden = hidden

    def encode(self, kinds):
        codes = self.encoder.fit_transform(kinds)
        return tf.keras.utils.to_categorical(codes, 3)

    def build(self, n_features, n_classes):
        inp = tf.keras.Input((n_features,))
        h = tf.keras.layers.Dense(self.hidden, activation="relu")(inp)
        out = tf.keras.layers.Dense(n_classes, activation="softmax")(h)
        model = tf.keras.Model(inp, out)
        model.compile(optimizer="adam", loss=tf.keras.losses.CategoricalCrossentropy(),
                      metrics=["accuracy"])
        return model

    def run(self):
        X, kinds = load_wine()
        y = self.encode(kinds)
        X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, random_state=0)
        model = self.build(X.shape[1], len(self.encoder.classes_))
        model.fit(X_tr, y_tr, validation_data=(X_va, y_va), epochs=2, batch_size=18, verbose=2)


WineTrainer().run()
