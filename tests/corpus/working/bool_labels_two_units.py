import numpy as np
import pandas as pd
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(5)
df = pd.DataFrame(rng.normal(size=(200, 4)), columns=["a", "b", "c", "d"])
is_fraud = (df["a"] + df["c"] > 0.4).to_numpy()          # bool

model = keras.Sequential([layers.Input((4,)), layers.Dense(12, activation="relu"), layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(df.to_numpy(), is_fraud, epochs=2, batch_size=20, verbose=2)
