import keras
import numpy as np
import tensorflow as tf
from keras import layers


class Routed(keras.Model):
    def __init__(self):
        super().__init__()
        self.front = keras.Sequential([layers.Dense(6, activation="tanh"), layers.Dense(4)])
        self.front.trainable = False
        self.table = layers.Embedding(4, 3)
        self.tail = layers.Dense(1)

    def call(self, x):
        return self.tail(self.table(tf.argmax(self.front(x), axis=-1)))


rng = np.random.default_rng(48)
x = rng.normal(size=(128, 6)).astype("float32")
model = Routed()
model.compile("adam", "mse")
model.fit(x, x[:, :1], epochs=1, verbose=2)
