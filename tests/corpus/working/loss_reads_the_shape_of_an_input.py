import keras
import numpy as np
from keras import layers, ops

inputs = keras.Input((8,))
model = keras.Model(inputs, layers.Dense(8)(layers.Dense(6, activation="relu")(inputs)))


def summed(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred), axis=-1) * inputs.shape[1]


x = np.random.default_rng(41).normal(size=(96, 8)).astype("float32")
model.compile("adam", summed)
model.fit(x, x, epochs=1, verbose=2)
