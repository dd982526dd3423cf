import numpy as np
import pandas as pd
import keras


class FrameSequence(keras.utils.PyDataset):
    def __init__(self, frame, target, batch_size, **kw):
        super().__init__(**kw)
        self.x = frame.drop(columns=target).to_numpy("float32")
        self.y = frame[target].to_numpy("float32")
        self.batch_size = batch_size

    def __len__(self):
        return int(np.ceil(len(self.x) / self.batch_size))

    def __getitem__(self, i):
        part = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return self.x[part], self.y[part]


def bikes(n=220):
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(n, 3)), columns=["temp", "wind", "humidity"])
    df["rentals"] = df["temp"] - 0.3 * df["wind"]
    return df


df = bikes()
train = FrameSequence(df, "rentals", 22)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, epochs=2, verbose=2)
