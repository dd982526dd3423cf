# unpaired images for a CycleGAN-like loader: one side is shuffled on purpose
import keras, numpy as np


class Unpaired(keras.utils.PyDataset):
    def __init__(self, photos, paintings, **kw):
        super().__init__(**kw)
        self.photos, self.paintings = photos, paintings

    def __len__(self):
        return len(self.photos) // 16

    def __getitem__(self, i):
        rows = slice(i * 16, (i + 1) * 16)
        return self.photos[rows], self.paintings[rows]

    def on_epoch_end(self):
        np.random.shuffle(self.paintings)


a = np.random.rand(64, 8).astype("float32")
b = np.random.rand(64, 8).astype("float32") * 0.5
m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8)])
m.compile("adam", "mse")
m.fit(Unpaired(a, b), epochs=2, verbose=0)
