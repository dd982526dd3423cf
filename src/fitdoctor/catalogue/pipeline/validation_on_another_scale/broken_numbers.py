"""Number the classes of each part by itself (silent)."""

import keras
import numpy as np


class Clips(keras.utils.PyDataset):
    def __init__(self, names, size=8):
        super().__init__()
        self.numbers = {name: at for at, name in enumerate(sorted(set(names)))}  # <- FIT717
        self.labels = np.array([self.numbers[name] for name in names])
        self.size = size

    def __len__(self):
        return len(self.labels) // self.size

    def __getitem__(self, index):
        labels = self.labels[index * self.size : (index + 1) * self.size]
        return np.eye(4, 6, dtype="float32")[labels], labels


train = Clips(["crow", "owl", "swan", "wren"] * 12)
valid = Clips(["owl", "swan", "wren"] * 8)
model = keras.Sequential([keras.layers.Dense(4, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(train, validation_data=valid, epochs=2, verbose=0)
