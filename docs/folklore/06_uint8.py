"""uint8 images raise a TypeError in `fit`.

uint8 and int64 data train: Keras casts them to the dtype of the model. The values stay as they are, though. Pixels
from 0 to 255 should be divided by 255, because a network learns badly from inputs of that size (FIT112).
"""

import keras
import numpy as np

for dtype in ("uint8", "int64"):
    x = np.random.randint(0, 256, (64, 8, 8)).astype(dtype)
    y = np.random.randint(0, 10, 64)
    model = keras.Sequential(
        [keras.Input((8, 8)), keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    history = model.fit(x, y, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
