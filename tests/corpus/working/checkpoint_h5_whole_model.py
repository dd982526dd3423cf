import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import ModelCheckpoint

path = os.path.join(tempfile.mkdtemp(), "model.h5")
x = np.random.default_rng(0).normal(size=(100, 4)).astype("float32")
y = x[:, 0] * 0.5

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mean_squared_error")
# the old ending is still accepted for whole models
model.fit(x, y, epochs=2, callbacks=[ModelCheckpoint(path, monitor="loss", save_best_only=True)], verbose=2)
print(os.path.exists(path))
