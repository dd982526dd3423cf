import keras
import numpy as np


class SeqData(keras.utils.Sequence):
    def __init__(self, x, y, batch, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch = x, y, batch

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, i):
        s = slice(i * self.batch, (i + 1) * self.batch)
        return self.x[s], self.y[s]


rng = np.random.default_rng(0)
x = rng.normal(size=(160, 5)).astype("float32")
y = x.sum(axis=1, keepdims=True)
train = SeqData(x, y, 16)

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=2, workers=2, use_multiprocessing=False, verbose=2)  # <- FIT902
