import io

import numpy as np
import pandas as pd
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(0)
table = pd.DataFrame(rng.normal(size=(200, 4)).round(4), columns=["a", "b", "c", "d"])
table["churn"] = (table["a"] + table["b"] > 0).astype(int)
customers = pd.read_csv(io.StringIO(table.to_csv(index=False)))

X = customers.drop(columns="churn").values
y = customers["churn"].values

model = Sequential([Input((4,)), Dense(16, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, validation_data=(X, y), epochs=3, batch_size=20, verbose=2)  # <- FIT003
