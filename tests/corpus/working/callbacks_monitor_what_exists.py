import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, ReduceLROnPlateau

out = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype("float32")
y = x[:, :3].argmax(axis=1)

model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
callbacks = [
    EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True),
    ReduceLROnPlateau(monitor="val_accuracy", mode="max", patience=1),
    ModelCheckpoint(out / "best.keras", monitor="val_loss", save_best_only=True),
    ModelCheckpoint(str(out / "w-{epoch:02d}.weights.h5"), save_weights_only=True),
    CSVLogger(str(out / "log.csv")),
]
model.fit(x, y, validation_split=0.2, epochs=3, batch_size=20, callbacks=callbacks, verbose=2)
print(sorted(p.name for p in out.iterdir()))
