import os
import pathlib
import tempfile
import zipfile

import numpy as np
import tensorflow as tf

folder = pathlib.Path(tempfile.mkdtemp())
with zipfile.ZipFile(folder / "tides.zip", "w") as archive:
    archive.writestr("tides/levels.csv", "\n".join(f"{h},{h * 0.3 + 1}" for h in range(48)))

path = tf.keras.utils.get_file(
    "tides.zip", origin=(folder / "tides.zip").as_uri(), extract=True, cache_dir=str(folder)
)
tides = os.path.join(path, "tides")
table = np.loadtxt(os.path.join(tides, "levels.csv"), delimiter=",", dtype="float32")

model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(table[:, :1] / 48, table[:, 1:], epochs=1, verbose=0)
