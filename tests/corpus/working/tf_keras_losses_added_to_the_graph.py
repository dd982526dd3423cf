"""Keras 2 by tf_keras: model.add_loss and add_metric of symbolic tensors, tf functions on them, optimizer.lr set by K: all works there."""
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import backend as K, layers

inp = keras.Input((6,))
h = layers.Dense(8, activation="relu")(inp)
mean, logvar = layers.Dense(2)(h), layers.Dense(2, bias_initializer=keras.initializers.Constant(-4))(h)
z = mean + tf.exp(logvar / 2) * tf.random.normal(tf.shape(mean))
out = layers.Dense(6)(z)
vae = keras.Model(inp, out)
vae.add_loss(tf.reduce_mean(tf.square(inp - out)))
kl = -0.5 * tf.reduce_mean(1 + logvar - tf.square(mean) - tf.exp(logvar))
vae.add_loss(1e-3 * kl)
vae.add_metric(kl, name="kl", aggregation="mean")
vae.compile(keras.optimizers.Adam(0.02))
rng = np.random.default_rng(0)
x = (rng.normal(size=(320, 2)) @ rng.normal(size=(2, 6))).astype("float32")
h = vae.fit(x, epochs=40, verbose=0)
K.set_value(vae.optimizer.lr, 1e-3)
vae.fit(x, epochs=2, verbose=0, callbacks=[keras.callbacks.EarlyStopping("kl")])
print(h.history["loss"][0], h.history["loss"][-1])
