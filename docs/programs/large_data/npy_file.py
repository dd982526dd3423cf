"""a large `.npy` file | `np.load(path, mmap_mode="r")` in a `keras.utils.PyDataset` that reads one batch per item"""

import tempfile
from pathlib import Path

import keras
import numpy as np


def private():
    """Return the memory of this process in MB, without pages of files."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("RssAnon"))


class Rows(keras.utils.PyDataset):
    def __init__(self, path, batch_size):
        super().__init__()
        self.rows, self.batch_size = np.load(path, mmap_mode="r"), batch_size

    def __len__(self):
        return len(self.rows) // self.batch_size

    def __getitem__(self, index):
        batch = np.array(self.rows[index * self.batch_size : (index + 1) * self.batch_size])
        return batch, batch[:, 0, :1]


class Watch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.seen = max(getattr(self, "seen", 0), private())


path = Path(tempfile.mkdtemp()) / "rows.npy"
file = np.lib.format.open_memmap(path, mode="w+", dtype="float32", shape=(200, 1024, 256))  # 200 MB
file.flush()
model = keras.Sequential([keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.zeros((4, 1024, 256)), np.zeros((4, 1)), verbose=0)  # everything is traced before it is measured
before = private()
watch = Watch()
model.fit(Rows(path, 4), verbose=0, callbacks=[watch])
assert watch.seen - before < 100
