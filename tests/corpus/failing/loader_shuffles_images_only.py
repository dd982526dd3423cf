import keras
import numpy as np


class Scans(keras.utils.PyDataset):
    def __init__(self, scans, labels, **options):
        super().__init__(**options)
        self.scans, self.labels = scans, labels

    def __len__(self):
        return len(self.scans) // 16

    def __getitem__(self, number):
        rows = slice(number * 16, (number + 1) * 16)
        return self.scans[rows], self.labels[rows]

    def on_epoch_end(self):
        np.random.shuffle(self.scans)  # <- FIT219


scans = np.random.normal(size=(160, 6)).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(Scans(scans, scans[:, 0] > 0), epochs=3)
