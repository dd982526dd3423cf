"""A PyDataset with two inputs."""

import keras
import numpy as np

left, right = keras.Input((4,)), keras.Input((3,))
model = keras.Model([left, right], keras.layers.Dense(1)(keras.layers.concatenate([left, right])))
model.compile("adam", "mse")


class Pairs(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        first, second = rng.normal(size=(8, 4)), rng.normal(size=(8, 3))
        return [first, second], first[:, :1]  # <- FIT707


model.fit(Pairs(), epochs=1, verbose=0)
