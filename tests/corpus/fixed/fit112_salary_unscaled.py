import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow.keras import Sequential
from tensorflow.keras.layers import Dense, Input

rng = np.random.default_rng(9)
n = 300
people = pd.DataFrame({
    "salary": rng.normal(850_000, 250_000, n),
    "share_saved": rng.random(n),
    "owns_home": rng.integers(0, 2, n),
    "family": rng.random(n),
})
people["accepted"] = ((people["share_saved"] + people["owns_home"] * 0.5) > 0.75).astype(int)

features = ["salary", "share_saved", "owns_home", "family"]
X_train, X_val, y_train, y_val = train_test_split(
    people[features].to_numpy("float32"), people["accepted"].to_numpy(), random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_val = scaler.transform(X_train), scaler.transform(X_val)

model = Sequential([Input((4,)), Dense(16, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X_train, y_train, validation_data=(X_val, y_val), epochs=2, batch_size=25, verbose=2)
