import io

import numpy as np
import pandas as pd
import tensorflow as tf

rng = np.random.default_rng(12)
rows = ["pclass,sex,age,fare,embarked,survived"]
for _ in range(200):
    sex = rng.choice(["male", "female"])
    rows.append(f"{rng.integers(1, 4)},{sex},{rng.uniform(1, 70):.1f},{rng.gamma(2, 15):.2f},"
                f"{rng.choice(list('SCQ'))},{int(rng.random() < (0.75 if sex == 'female' else 0.2))}")
train = pd.read_csv(io.StringIO("\n".join(rows)))

for col in ("age", "fare"):
    train[col] = (train[col] - train[col].mean()) / train[col].std()
train["pclass"] = train["pclass"] - 2

features = pd.get_dummies(train.drop(columns="survived"), columns=["sex", "embarked"])  # <- FIT105
X = features.values  # <~ FIT105
y = train["survived"].values
print(features.head())

model = tf.keras.models.Sequential()
model.add(tf.keras.layers.Input(shape=(X.shape[1],)))
model.add(tf.keras.layers.Dense(16, activation="relu"))
model.add(tf.keras.layers.Dense(8, activation="relu"))
model.add(tf.keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=16, validation_split=0.2, verbose=2)
