import os
import tempfile

import numpy as np
from tensorflow.keras.callbacks import ModelCheckpoint
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Sequential

out_dir = tempfile.mkdtemp()
X = np.random.default_rng(0).normal(size=(160, 5))
y = (X.sum(axis=1) > 0).astype(int)

model = Sequential([Input((5,)), Dense(10, activation="relu"), Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])

filepath = os.path.join(out_dir, "weights-improvement-{epoch:02d}-{val_accuracy:.2f}.hdf5")  # <- FIT905
checkpoint = ModelCheckpoint(filepath, monitor="val_accuracy", save_best_only=True, mode="max")  # <~ FIT905
model.fit(X, y, validation_split=0.2, epochs=2, batch_size=16, callbacks=[checkpoint], verbose=2)
