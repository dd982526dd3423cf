import random

import keras
import numpy as np


class Slices(keras.utils.PyDataset):
    def __init__(self, slices, masks, size=8):
        super().__init__()
        self.slices, self.masks, self.size = list(slices), list(masks), size

    def __len__(self):
        return len(self.slices) // self.size

    def __getitem__(self, index):
        part = slice(index * self.size, (index + 1) * self.size)
        return np.stack(self.slices[part]), np.stack(self.masks[part])

    def on_epoch_end(self):
        pairs = list(zip(self.slices, self.masks))
        random.shuffle(pairs)
        self.slices, self.masks = map(list, zip(*pairs))


slices = np.random.default_rng(3).uniform(size=(48, 16, 16, 1)).astype("float32")
model = keras.Sequential([keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(Slices(slices, slices > 0.5), epochs=2, verbose=0)
