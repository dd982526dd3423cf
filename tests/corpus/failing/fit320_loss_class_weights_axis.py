import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Input

CLASS_WEIGHTS = tf.constant([0.3, 1.0, 2.0, 4.0])


def weighted_mse(y_true, y_pred):
    """Each of the four targets has its own weight."""
    err = tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)  # <- FIT320
    return tf.reduce_mean(err * CLASS_WEIGHTS)  # <~ FIT320


rng = np.random.default_rng(30)
X = rng.normal(size=(200, 6)).astype("float32")
Y = np.tanh(X @ rng.normal(size=(6, 4))).astype("float32")

model = Sequential([Input((6,)), Dense(24, activation="relu"), Dense(4)])
model.compile(optimizer="adam", loss=weighted_mse)
model.fit(X, Y, epochs=2, batch_size=25, verbose=2)
