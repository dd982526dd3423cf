import keras
import numpy as np
import tensorflow as tf
from keras import layers


def weighted_bce(positive):
    def loss(y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        per_row = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)  # <~ FIT210
        return tf.reduce_mean((1.0 + (positive - 1.0) * y_true) * per_row)

    return loss


def build(features):
    inputs = keras.Input((features,))
    hidden = layers.Dense(12, activation="relu")(inputs)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(hidden))  # <- FIT210


rng = np.random.default_rng(31)
x = rng.normal(size=(240, 6)).astype("float32")
y = (x[:, :1] > 0.8).astype("float32")
model = build(6)
model.compile("adam", weighted_bce(4.0))
model.fit(x, y, epochs=2, verbose=2)
