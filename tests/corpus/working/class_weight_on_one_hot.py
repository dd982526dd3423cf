import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.utils import to_categorical

COUNTS = {0: 160, 1: 40, 2: 20}
rng = np.random.default_rng(0)
codes = rng.permutation(np.repeat(list(COUNTS), list(COUNTS.values())))
X = rng.normal(size=(len(codes), 5)) + codes[:, None]
X = (X - X.mean(axis=0)) / X.std(axis=0)
Y = to_categorical(codes)

total = sum(COUNTS.values())
class_weight = {k: total / (len(COUNTS) * c) for k, c in COUNTS.items()}

model = keras.Sequential([layers.Input((5,)), layers.Dense(10, activation="relu"), layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy", metrics=["categorical_accuracy"])
model.fit(X, Y, class_weight=class_weight, epochs=2, batch_size=22, verbose=2)
