import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(0)
ratings = pd.DataFrame({"userId": rng.integers(1, 61, 500), "movieId": rng.integers(1, 101, 500), "rating": rng.integers(1, 6, 500)})
n_users = ratings.userId.nunique()  # <~ FIT113
n_movies = ratings.movieId.nunique()  # <~ FIT113

user_in = layers.Input(shape=(1,))
movie_in = layers.Input(shape=(1,))
u = layers.Flatten()(layers.Embedding(n_users, 8)(user_in))  # <- FIT113
m = layers.Flatten()(layers.Embedding(n_movies, 8)(movie_in))  # <~ FIT113
dot = layers.Dot(axes=1)([u, m])
model = tf.keras.Model([user_in, movie_in], dot)
model.compile(optimizer="adam", loss="mse")
model.fit([ratings.userId, ratings.movieId], ratings.rating, epochs=1, verbose=0)
