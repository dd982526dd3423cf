import keras
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.utils import resample


def load():
    rng = np.random.default_rng(3)
    df = pd.DataFrame(rng.normal(size=(260, 6)), columns=list("abcdef"))
    df["fraud"] = (df["a"] + df["b"] + 0.5 * rng.normal(size=260) > 1.8).astype(int)
    return df


def balance(df):
    major, minor = df[df.fraud == 0], df[df.fraud == 1]
    minor_up = resample(minor, replace=True, n_samples=len(major), random_state=1)
    return pd.concat([major, minor_up]).sample(frac=1.0, random_state=1)


def main():
    train, val = train_test_split(load(), test_size=0.25, random_state=0)
    train = balance(train)
    features = list("abcdef")
    model = keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(
        train[features].to_numpy("float32"), train["fraud"].to_numpy("float32"),
        validation_data=(val[features].to_numpy("float32"), val["fraud"].to_numpy("float32")),
        epochs=3, batch_size=32, verbose=2,
    )


if __name__ == "__main__":
    main()
