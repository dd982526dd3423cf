import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Input, Dense, Concatenate
from tensorflow.keras.models import Model

a = Input(shape=(6,), name="left")
b = Input(shape=(4,), name="right")
out = Dense(1)(Concatenate()([Dense(8)(a), Dense(8)(b)]))
model = Model([a, b], out)
model.compile(loss="mse", optimizer="adam")


class DataGen:
    def __init__(self, n, bs):
        self.n, self.bs = n, bs

    def flow(self):
        while True:
            xa = np.random.rand(self.bs, 6)
            xb = np.random.rand(self.bs, 4)
            y = np.random.rand(self.bs, 1)
            yield (xa, xb), y


gen = DataGen(64, 8)
model.fit(gen.flow(), steps_per_epoch=8, epochs=2)
