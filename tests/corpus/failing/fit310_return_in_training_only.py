import keras
from keras import layers
import numpy as np

class Noisy(layers.Layer):
    def __init__(self, std, **kw):
        super().__init__(**kw)
        self.noise = layers.GaussianNoise(std)

    def call(self, x, training=False):  # <~ FIT310
        if training:  # <- FIT310
            return self.noise(x, training=True)

model = keras.Sequential([keras.Input((4,)), Noisy(0.1), layers.Dense(1)])
model.compile('adam', 'mse')
model.fit(np.random.rand(30, 4), np.random.rand(30), validation_split=0.2, epochs=1, verbose=0)
