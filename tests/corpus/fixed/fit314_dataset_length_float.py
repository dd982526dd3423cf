"""Dataset length float."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(1)

class Rows(keras.utils.PyDataset):
    def __init__(self, x, y, size):
        super().__init__()
        self.x, self.y, self.size = x, y, size
    def __len__(self):
        return int(np.ceil(len(self.x) / self.size))
    def __getitem__(self, i):
        return self.x[i * self.size:(i + 1) * self.size], self.y[i * self.size:(i + 1) * self.size]
model = keras.Sequential([keras.Input((4,)), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Rows(np.zeros((20, 4)), np.zeros(20), 8), epochs=1, verbose=0)
