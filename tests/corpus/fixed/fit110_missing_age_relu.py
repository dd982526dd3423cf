"""Kaggle-style baseline: a few missing ages in the table."""
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras
from tensorflow.keras import layers


def read_table(n=300):
    rng = np.random.default_rng(5)
    df = pd.DataFrame({
        "age": rng.normal(40, 12, n),
        "income": rng.normal(30, 8, n),
        "debt": rng.normal(10, 4, n),
    })
    df["default"] = (df["debt"] - 0.2 * df["income"] + rng.normal(0, 1, n) > 4).astype(int)
    df.loc[rng.choice(n, 12, replace=False), "age"] = np.nan
    return df


df = read_table()
df["age"] = df["age"].fillna(df["age"].median())
train_df, valid_df = train_test_split(df, test_size=0.2, random_state=0)
scaler = StandardScaler()
X_train = scaler.fit_transform(train_df.drop(columns="default"))
X_valid = scaler.transform(valid_df.drop(columns="default"))

model = keras.Sequential([
    keras.Input(shape=(X_train.shape[1],)),
    layers.Dense(32, activation="relu"),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, train_df["default"], epochs=2, batch_size=30,
          validation_data=(X_valid, valid_df["default"]))
print(model.predict(X_valid[:5], verbose=0).ravel())
