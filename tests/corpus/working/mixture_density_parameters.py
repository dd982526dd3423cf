"""Nine parameters for one target."""

import numpy as np
import tensorflow as tf
K_MIX = 3
def mdn_loss(y_true, params):
    pi, mu, log_sigma = tf.split(params, 3, axis=-1)
    pi = tf.nn.log_softmax(pi)
    sigma = tf.exp(log_sigma)
    logp = -0.5 * tf.square((y_true - mu) / sigma) - log_sigma - 0.9189
    return -tf.reduce_logsumexp(pi + logp, axis=-1)
x = np.random.uniform(-1, 1, (128, 1)).astype('float32')
y = (x + 0.3 * np.sin(2 * np.pi * x) + np.random.normal(0, .05, x.shape)).astype('float32')
model = tf.keras.Sequential([tf.keras.layers.Dense(20, activation='tanh', input_shape=(1,)), tf.keras.layers.Dense(3 * K_MIX)])
model.compile('adam', loss=mdn_loss)
model.fit(y, x, epochs=2, verbose=0)
