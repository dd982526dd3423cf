import numpy as np
import tensorflow as tf
from tensorflow import keras


class Recommender(keras.Model):
    def __init__(self, users, items, size=8):
        super().__init__()
        self.users = keras.layers.Embedding(users, size)
        self.items = keras.layers.Embedding(items, size)
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        user, item = inputs
        match = self.users(user) * self.items(item)
        return self.out(match)


rng = np.random.default_rng(0)
user = rng.integers(0, 50, 300)
item = rng.integers(0, 30, 300)
rating = ((user % 5) + (item % 3)).astype("float32").reshape(-1, 1)

model = Recommender(50, 30)
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
model.fit([user, item], rating, epochs=2, verbose=0)
