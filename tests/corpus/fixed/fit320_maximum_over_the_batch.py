import numpy as np
import tensorflow as tf

class Clf(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.rnn = tf.keras.layers.GRU(8, return_sequences=True)
        self.out = tf.keras.layers.Dense(3, activation="softmax")

    def call(self, x):
        h = self.rnn(x)
        h = tf.reduce_max(h, axis=1)
        return self.out(h)

model = Clf()
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.random.rand(64, 10, 4), np.random.randint(0, 3, 64), epochs=1)
