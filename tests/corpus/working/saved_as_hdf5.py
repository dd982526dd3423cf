"""`save` accepts `.hdf5` besides `.h5`."""

import os
import tempfile

import keras
import numpy as np
from keras import Sequential, layers

model = Sequential([keras.Input((4,)), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.random.rand(16, 4), np.random.rand(16, 1), verbose=0)
with tempfile.TemporaryDirectory() as folder:
    model.save(os.path.join(folder, "model.hdf5"))
    os.chdir(folder)
    model.save("whole.hdf5")
    keras.models.load_model("whole.hdf5", compile=False)
    os.chdir("/")
