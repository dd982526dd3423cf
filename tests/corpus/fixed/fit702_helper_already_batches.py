import numpy as np
import tensorflow as tf
from tensorflow import keras


class DataModule:
    def __init__(self, n=180, batch_size=18):
        self.n, self.batch_size = n, batch_size

    def _arrays(self):
        rng = np.random.default_rng(2)
        x = rng.normal(size=(self.n, 10)).astype("float32")
        y = (x[:, 0] - x[:, 3]).astype("float32")
        return x, y

    def train_dataset(self):
        ds = tf.data.Dataset.from_tensor_slices(self._arrays())
        return ds.shuffle(self.n).batch(self.batch_size)


data = DataModule()
train = data.train_dataset().prefetch(tf.data.AUTOTUNE)

inp = keras.Input((10,))
h = keras.layers.Dense(16, activation="relu")(inp)
model = keras.Model(inp, keras.layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(train, epochs=2, verbose=2)
