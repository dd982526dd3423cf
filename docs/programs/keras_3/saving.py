"""`model.save("folder")`, `ModelCheckpoint("best")` | `model.save("best.keras")`, `ModelCheckpoint("best.keras")`"""

import tempfile
from pathlib import Path

import keras
import tf_keras

folder = Path(tempfile.mkdtemp())
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
for save in (lambda: model.save(folder / "folder"), lambda: keras.callbacks.ModelCheckpoint("best")):
    try:
        save()
    except ValueError as error:
        assert ".keras" in str(error)
    else:
        raise AssertionError("it must raise")
model.save(folder / "best.keras")
keras.callbacks.ModelCheckpoint("best.keras")
old = tf_keras.Sequential([tf_keras.Input((3,)), tf_keras.layers.Dense(1)])
old.save(folder / "folder")
tf_keras.callbacks.ModelCheckpoint("best")
