"""Cultivars that are numbered from 1, turned into one-hot rows of three."""

import numpy as np
import pandas as pd
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import to_categorical

wines = pd.DataFrame(np.random.rand(60, 5), columns=["alcohol", "acid", "ash", "hue", "proline"])
wines["cultivar"] = np.repeat([1, 2, 3], 20)

x = wines.drop(columns="cultivar").values
y = to_categorical(wines["cultivar"].values, num_classes=3)  # <- FIT203

model = Sequential([Input((5,)), Dense(8, activation="relu"), Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, verbose=0)
