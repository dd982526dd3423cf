import os
import tempfile

import numpy as np
from tensorflow.keras import Sequential, layers
from tensorflow.keras.callbacks import ModelCheckpoint

folder = tempfile.mkdtemp()
filepath = os.path.join(folder, "weights-{epoch:02d}-{val_acc:.2f}.keras")  # <- FIT322
model = Sequential([layers.Dense(8, activation="relu", input_shape=(4,)), layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
checkpoint = ModelCheckpoint(filepath, monitor="val_loss", save_best_only=True)

rng = np.random.default_rng(7)
x = rng.random((60, 4))
y = (x.sum(axis=1) > 2).astype(int)
model.fit(x, y, validation_split=0.33, epochs=2, callbacks=[checkpoint], verbose=0)
