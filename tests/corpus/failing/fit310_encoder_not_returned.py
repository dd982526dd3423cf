import numpy as np
import tensorflow as tf

def build_encoder(dim):
    inputs = tf.keras.Input((dim,))
    h = tf.keras.layers.Dense(16, activation="relu")(inputs)
    z = tf.keras.layers.Dense(4)(h)
    encoder = tf.keras.Model(inputs, z, name="encoder")
    encoder.summary(print_fn=lambda s: None)  # <- FIT310

def build_decoder(dim):
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(dim)(inputs), name="decoder")

enc, dec = build_encoder(12), build_decoder(12)
inp = tf.keras.Input((12,))
model = tf.keras.Model(inp, dec(enc(inp)))
model.compile("adam", "mse")
x = np.random.rand(20, 12)
model.fit(x, x, epochs=1, verbose=0)
