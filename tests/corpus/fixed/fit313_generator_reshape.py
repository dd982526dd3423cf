import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LATENT = 8


def make_decoder():
    model = tf.keras.Sequential(name="decoder")
    model.add(layers.Input((LATENT,)))
    model.add(layers.Dense(7 * 7 * 32, activation="relu"))
    model.add(layers.Reshape((7, 7, 32)))
    model.add(layers.Conv2DTranspose(16, 4, strides=2, padding="same", activation="relu"))
    model.add(layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"))
    return model


def make_encoder():
    return tf.keras.Sequential([
        layers.Input((28, 28, 1)),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(LATENT),
    ], name="encoder")


rng = np.random.default_rng(0)
yy, xx = np.mgrid[0:28, 0:28]
centers = rng.uniform(6, 22, (96, 2))
imgs = np.exp(-((yy - centers[:, :1, None]) ** 2 + (xx - centers[:, 1:, None]) ** 2) / 20.0)
imgs = imgs[..., None].astype("float32")

encoder, decoder = make_encoder(), make_decoder()
autoencoder = tf.keras.Sequential([encoder, decoder])
autoencoder.compile(optimizer="adam", loss="mse")
autoencoder.fit(imgs, imgs, epochs=1, batch_size=16, verbose=2)
