import argparse

import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--batches", type=int, default=4)
args = parser.parse_args()

rng = np.random.default_rng(2)
x = rng.normal(size=(100, 4)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
batch_size = len(x) // args.batches
model.fit(x, y, batch_size=batch_size, epochs=2, verbose=0)
