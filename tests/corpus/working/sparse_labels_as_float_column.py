import io

import numpy as np
import pandas as pd
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(2)
lines = ["x1,x2,x3,grade"]
for _ in range(200):
    g = rng.integers(0, 3)
    a, b, c = rng.normal(g - 1, 0.6, 3)
    lines.append(f"{a:.3f},{b:.3f},{c:.3f},{g}")
data = pd.read_csv(io.StringIO("\n".join(lines))).to_numpy()   # all float64

X, y = data[:, :3], data[:, 3:]          # y has the shape (200, 1)
model = Sequential([Input((3,)), Dense(12, activation="relu"), Dense(3, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=20, validation_split=0.2, verbose=2)
