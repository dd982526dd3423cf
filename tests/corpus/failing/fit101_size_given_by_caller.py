import argparse
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow.keras.layers import Dense, Dropout
from tensorflow.keras.models import Sequential


def load():
    rng = np.random.default_rng(0)
    cols = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"]
    df = pd.DataFrame(rng.normal(size=(200, 13)), columns=cols)
    df["MEDV"] = df["RM"] * 3 + rng.normal(size=200)
    return df


def build_model(n_features):
    model = Sequential()
    model.add(Dense(64, input_dim=n_features, activation="relu"))
    model.add(Dropout(0.2))
    model.add(Dense(1))
    model.compile(loss="mean_squared_error", optimizer="adam")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    df = load()
    X = df.drop("MEDV", axis=1)
    y = df["MEDV"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    model = build_model(df.shape[1])  # <- FIT101
    model.fit(X_train, y_train, validation_data=(X_test, y_test), epochs=args.epochs, batch_size=16, verbose=0)


if __name__ == "__main__":
    main()
