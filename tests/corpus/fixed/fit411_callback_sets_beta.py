import numpy as np
import tensorflow as tf
from tensorflow import keras


class BetaAutoencoder(keras.Model):
    def __init__(self, dim, code=3):
        super().__init__()
        self.encoder = keras.layers.Dense(code)
        self.decoder = keras.layers.Dense(dim)
        self.beta = self.add_weight(shape=(), initializer="zeros", trainable=False, name="beta")

    def call(self, x):
        code = self.encoder(x)
        self.add_loss(self.beta * tf.reduce_mean(tf.square(code)))
        return self.decoder(code)


class BetaSchedule(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / 2))


rng = np.random.default_rng(0)
x = (rng.normal(size=(200, 3)) @ rng.normal(size=(3, 9))).astype("float32")
model = BetaAutoencoder(9)
model.compile(optimizer="adam", loss="mse")
model.fit(x, x, epochs=4, batch_size=20, callbacks=[BetaSchedule()], verbose=2)
