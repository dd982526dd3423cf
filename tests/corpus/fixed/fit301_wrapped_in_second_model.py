import keras
import numpy as np
from keras import layers
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split


def feature_model(n_features):
    inputs = keras.Input((n_features,))
    h = layers.Dense(24, activation="relu")(inputs)
    h = layers.Dense(12, activation="relu")(h)
    rec = layers.Dense(n_features)(h)
    auto = keras.Model(inputs, rec)
    auto.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
    return auto, keras.Model(inputs, h, name="features")


def main():
    X, y = make_classification(n_samples=240, n_features=12, n_informative=6, n_classes=3, random_state=0)
    X = X.astype("float32")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1)

    auto, features = feature_model(X.shape[1])
    auto.fit(X_train, X_train, epochs=2, batch_size=30, verbose=0)

    out = layers.Dense(3, activation="softmax")(features.output)
    classifier = keras.Model(features.input, out)
    classifier.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    classifier.fit(X_train, y_train, epochs=2, batch_size=30, verbose=0)
    print(classifier.evaluate(X_test, y_test, verbose=0))


if __name__ == "__main__":
    main()
