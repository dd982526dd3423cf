import numpy as np
import tensorflow as tf
from tensorflow import keras


class Annealed(keras.Model):
    def __init__(self, dim):
        super().__init__()
        self.enc = keras.layers.Dense(3)
        self.dec = keras.layers.Dense(dim)
        self.beta = self.add_weight(shape=(), initializer="zeros", trainable=False, name="beta")

    def call(self, x):
        z = self.enc(x)
        self.add_loss(self.beta * tf.reduce_mean(tf.square(z)))
        return self.dec(z)


class Anneal(keras.callbacks.Callback):
    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / self.epochs))


rng = np.random.default_rng(0)
x = (rng.normal(size=(160, 3)) @ rng.normal(size=(3, 7))).astype("float32")
model = Annealed(7)
model.compile("adam", "mse")
model.fit(x, x, epochs=3, batch_size=20, callbacks=[Anneal(3)], verbose=2)
print(float(model.beta))
