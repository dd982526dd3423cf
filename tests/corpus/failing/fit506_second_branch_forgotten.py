import tensorflow as tf
import numpy as np


class TwoStream(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.price_net = tf.keras.layers.Dense(16, activation="relu")
        self.news_net = tf.keras.layers.Dense(16, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, inputs):
        prices, news = inputs
        a = self.price_net(prices)
        b = self.news_net(news)
        return self.out(tf.concat([a, a], axis=-1))  # <- FIT506


rng = np.random.default_rng(12)
prices = rng.normal(size=(200, 5)).astype("float32")
news = rng.normal(size=(200, 3)).astype("float32")
move = prices[:, 0] + 2 * news[:, 0]

model = TwoStream()
model.compile(optimizer="adam", loss="mse")
model.fit((prices, news), move, epochs=2, batch_size=25, verbose=2)
