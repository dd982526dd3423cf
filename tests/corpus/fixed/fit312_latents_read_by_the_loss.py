"""The divergence is added by a layer that gets both tensors."""

import numpy as np
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input, Layer
from tensorflow.keras.models import Model


class Divergence(Layer):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def call(self, inputs):
        mean, log_var = inputs
        divergence = -0.5 * K.sum(1 + log_var - K.square(mean) - K.exp(log_var), axis=-1)
        self.add_loss(self.weight * K.mean(divergence))
        return mean


inputs = Input(shape=(12,))
hidden = Dense(8, activation="relu")(inputs)
mean = Dense(2)(hidden)
log_var = Dense(2)(hidden)
outputs = Dense(12, activation="sigmoid")(Divergence(0.1)([mean, log_var]))
model = Model(inputs, outputs)
model.compile(optimizer="rmsprop", loss="mse")
x = np.random.default_rng(0).random((40, 12)).astype("float32")
model.fit(x, x, epochs=1, batch_size=8, verbose=0)
