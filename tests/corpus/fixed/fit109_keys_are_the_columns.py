"""The keys of the dict are the columns of the table, not the names of the inputs."""

import numpy as np
import pandas as pd
from tensorflow import keras

df = pd.DataFrame({"user_id": np.random.randint(0, 50, 200), "movie_id": np.random.randint(0, 80, 200), "rating": np.random.rand(200)})

user_input = keras.layers.Input(shape=(1,), name="user")
movie_input = keras.layers.Input(shape=(1,), name="movie")
u = keras.layers.Flatten()(keras.layers.Embedding(50, 8)(user_input))
m = keras.layers.Flatten()(keras.layers.Embedding(80, 8)(movie_input))
x = keras.layers.Concatenate()([u, m])
x = keras.layers.Dense(16, activation="relu")(x)
out = keras.layers.Dense(1)(x)
model = keras.Model(inputs={"user": user_input, "movie": movie_input}, outputs=out)
model.compile(optimizer="adam", loss="mse")
model.fit({"user": df["user_id"].values, "movie": df["movie_id"].values}, df["rating"].values, epochs=2)
