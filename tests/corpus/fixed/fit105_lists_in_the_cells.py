"""A column of lists as labels."""

import numpy as np
import pandas as pd
import tensorflow as tf

df = pd.DataFrame({
    "feat1": np.random.rand(64),
    "feat2": np.random.rand(64),
    "labels": [list(np.random.randint(0, 2, 4)) for _ in range(64)],
})
X = df[["feat1", "feat2"]].values
y = np.array(df["labels"].tolist())

model = tf.keras.Sequential([
    tf.keras.layers.Dense(16, activation="relu", input_shape=(2,)),
    tf.keras.layers.Dense(4, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["binary_accuracy"])
model.fit(X, y, epochs=5)
