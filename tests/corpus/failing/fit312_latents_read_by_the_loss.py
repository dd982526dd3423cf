"""A variational autoencoder as Keras 2 examples wrote it: the loss reads tensors of the functional model around it."""

import numpy as np
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model


def with_divergence(mean, log_var, weight):
    def loss(y_true, y_pred):
        rebuilt = K.mean(K.square(y_true - y_pred), axis=-1)
        divergence = -0.5 * K.sum(1 + log_var - K.square(mean) - K.exp(log_var), axis=-1)  # <- FIT312
        return rebuilt + weight * divergence

    return loss


inputs = Input(shape=(12,))
hidden = Dense(8, activation="relu")(inputs)
mean = Dense(2)(hidden)
log_var = Dense(2)(hidden)
outputs = Dense(12, activation="sigmoid")(mean)
model = Model(inputs, outputs)
model.compile(optimizer="rmsprop", loss=with_divergence(mean, log_var, 0.1))
x = np.random.default_rng(0).random((40, 12)).astype("float32")
model.fit(x, x, epochs=1, batch_size=8, verbose=0)
