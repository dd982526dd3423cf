import numpy as np
from tensorflow import keras
import tensorflow as tf

rng = np.random.default_rng(10)
z = rng.normal(size=(200, 2))
x = np.tanh(z @ rng.normal(size=(2, 9))).astype("float32")

inp = keras.Input((9,))
code = keras.layers.Dense(2, name="code")(inp)
rec = keras.layers.Dense(9, activation="tanh")(code)
ae = keras.Model(inp, rec)


def reconstruction(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)


ae.compile(optimizer="adam", loss=reconstruction)
ae.fit(x, x, epochs=2, batch_size=20, verbose=2)
