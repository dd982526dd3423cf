import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model
class Sampling(layers.Layer):
    def call(self, inputs):
        mean, logvar = inputs
        batch = mean.shape[0]  # <- FIT407
        dim = mean.shape[1]
        eps = tf.random.normal(shape=(batch, dim))  # <~ FIT407
        return mean + tf.exp(0.5 * logvar) * eps
i = layers.Input((10,))
m = layers.Dense(2)(i)
v = layers.Dense(2)(i)
z = Sampling()([m, v])
vae = Model(i, layers.Dense(10)(z))
vae.compile("adam", "mse")
x = np.random.rand(30, 10)
vae.fit(x, x, epochs=1, verbose=0)
