import numpy as np
import math
from tensorflow.keras.utils import Sequence
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Flatten


class DataGenerator(Sequence):
    def __init__(self, ids, labels, batch_size=8):
        super().__init__()
        self.ids = ids
        self.labels = labels
        self.batch_size = batch_size

    def __len__(self):
        return math.ceil(len(self.ids) / self.batch_size)

    def __getitem__(self, idx):
        batch = self.ids[idx * self.batch_size : (idx + 1) * self.batch_size]
        X, y = [], []
        for i in batch:
            X.append(np.full((8, 8), i, dtype="float32"))
            y.append(self.labels[i])
        return np.array(X), np.array(y)


ids = list(range(40))
labels = {i: i % 2 for i in ids}
model = Sequential([Flatten(input_shape=(8, 8)), Dense(4, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam")
gen = DataGenerator(ids, labels)
model.fit(gen, epochs=1, verbose=0)
