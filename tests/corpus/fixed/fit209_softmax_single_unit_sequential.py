import io

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(0)
rows = "\n".join(",".join(f"{v:.2f}" for v in r) + f",{int(r[0] + r[2] > 10)}" for r in rng.uniform(0, 10, (250, 4)))
heart = pd.read_csv(io.StringIO("chol,bp,sugar,age,disease\n" + rows))

X = MinMaxScaler().fit_transform(heart.drop("disease", axis=1))
y = heart["disease"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=7)

model = Sequential()
model.add(Input((4,)))
model.add(Dense(16, activation="relu"))
model.add(Dense(8, activation="relu"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=2, batch_size=10, validation_data=(X_test, y_test), verbose=2)
