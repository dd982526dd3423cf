import argparse

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras

FEATURES = ["age", "tenure", "balance", "products", "salary", "score", "visits", "calls", "days_active"]


def make_frame(n, seed):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({c: rng.normal(size=n) for c in FEATURES})
    df["churn"] = (df["balance"] + 0.5 * df["calls"] > 0).astype(int)
    return df


def build_model(lr):
    inputs = keras.Input(shape=(len(FEATURES),), name="features")
    x = keras.layers.Dense(16, activation="relu")(inputs)
    x = keras.layers.Dense(8, activation="relu")(x)
    outputs = keras.layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs, name="churn")
    model.compile(keras.optimizers.Adam(lr), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=300)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()

    df = make_frame(args.rows, seed=3)
    X_train, X_val, y_train, y_val = train_test_split(
        df[FEATURES], df["churn"], test_size=0.2, random_state=0)
    scaler = StandardScaler().fit(X_train)
    X_train, X_val = scaler.transform(X_train), scaler.transform(X_val)

    model = build_model(args.lr)
    model.fit(X_train, y_train, validation_data=(X_val, y_val), epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
