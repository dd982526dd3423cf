import keras
import numpy as np
from keras import layers, ops


def build(features):
    inputs = keras.Input((features,))
    hidden = layers.Dense(6, activation="relu")(inputs)
    return inputs, keras.Model(inputs, layers.Dense(features)(hidden))


def reconstruction(inputs, weight=0.5):
    def loss(y_true, y_pred):
        error = ops.mean(ops.square(y_true - y_pred), axis=-1)
        return error + weight * ops.mean(ops.square(y_true - y_pred), axis=-1)

    return loss


x = np.random.default_rng(40).normal(size=(96, 8)).astype("float32")
inputs, model = build(8)
model.compile("adam", reconstruction(inputs))
model.fit(x, x, epochs=1, verbose=2)
