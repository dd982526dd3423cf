import numpy as np
import tensorflow as tf

class MLP(tf.keras.Model):
    def __init__(self, hidden, out):
        super().__init__()
        self.hidden = hidden
        self.n_out = out
        self.dense_layers = [tf.keras.layers.Dense(units, activation="relu") for units in self.hidden]
        self.dense_1 = tf.keras.layers.Dense(self.n_out)

    def call(self, x):
        for units, dense_layer in zip(self.hidden, self.dense_layers):
            x = dense_layer(x)
        return self.dense_1(x)

model = MLP([8, 8], 1)
model.compile("adam", "mse")
model.fit(np.random.rand(32, 3), np.random.rand(32, 1), epochs=1, verbose=0)
