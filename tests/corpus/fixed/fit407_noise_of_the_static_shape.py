import numpy as np
import tensorflow as tf
class VAE(tf.keras.Model):
    def __init__(self, latent=2):
        super().__init__()
        self.enc = tf.keras.layers.Dense(latent * 2)
        self.dec = tf.keras.layers.Dense(8)

    def call(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        self.add_loss(-0.5 * tf.reduce_mean(1 + logvar - tf.square(mean) - tf.exp(logvar)))
        return self.dec(z)
x = np.random.rand(50, 8).astype("float32")
v = VAE(); v.compile("adam", "mse")
v.fit(x, x, batch_size=16, epochs=1, verbose=0)
