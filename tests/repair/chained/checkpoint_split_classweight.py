import os
import tempfile

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_class_weight
from tensorflow import keras

rng = np.random.default_rng(5)
habits = rng.normal(size=(200, 4)).astype("float32")
ill = (rng.random(200) < 0.2).astype(int)
x_train, y_train, x_test, y_test = train_test_split(habits, ill, test_size=0.25, random_state=0)
weights = compute_class_weight("balanced", classes=np.unique(ill), y=ill)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
saving = keras.callbacks.ModelCheckpoint(os.path.join(tempfile.mkdtemp(), "best.hdf5"))
model.fit(x_train, y_train, class_weight=weights, epochs=2, verbose=0, callbacks=[saving])
