import tempfile
from pathlib import Path

import keras
import numpy as np

run_dir = Path(tempfile.mkdtemp()) / "run1"
run_dir.mkdir()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.model.compile(optimizer="adam", loss="mse")
        self.ckpt = keras.callbacks.ModelCheckpoint(
            filepath=str(run_dir / "best.weights.h5"),
            save_weights_only=True,
            save_best_only=True,
            monitor="val_loss",
        )

    def train(self, x, y):
        return self.model.fit(x, y, validation_split=0.25, epochs=2, callbacks=[self.ckpt], verbose=0)


x = np.random.default_rng(2).normal(size=(160, 4)).astype("float32")
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
hist = Trainer(net).train(x, x[:, 0] - x[:, 3])
print(hist.history["val_loss"])
