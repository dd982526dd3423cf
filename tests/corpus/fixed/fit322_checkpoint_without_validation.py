import tempfile
from pathlib import Path

import keras
import numpy as np


class Experiment:
    def __init__(self, workdir):
        self.workdir = Path(workdir)
        self.model = keras.Sequential(
            [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
        )
        self.model.compile(optimizer="adam", loss="mse")

    def callbacks(self):
        best = str(self.workdir / "best.keras")
        return [
            keras.callbacks.ModelCheckpoint(best, monitor="val_loss", save_best_only=True),
            keras.callbacks.CSVLogger(str(self.workdir / "log.csv")),
        ]

    def run(self, x, y):
        self.model.fit(x, y, epochs=3, batch_size=32, validation_split=0.2, callbacks=self.callbacks(), verbose=0)
        print((self.workdir / "log.csv").read_text())


rng = np.random.default_rng(1)
x = rng.normal(size=(224, 4)).astype("float32")
y = np.sin(x[:, 0]) + x[:, 1]
Experiment(tempfile.mkdtemp()).run(x, y)
