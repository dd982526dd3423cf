"""Weight the rare class (silent)."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from tensorflow import keras

rng = np.random.default_rng(10)
x = rng.normal(size=(400, 6)).astype("float32")
y = (x.sum(axis=1) > 4.5).astype("int32")

balanced = compute_class_weight("balanced", classes=np.unique(y), y=y)
class_weight = dict(enumerate(balanced))

model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("sgd", "binary_crossentropy", metrics=["recall"])
history = model.fit(x, y, epochs=20, verbose=0)  # <- FIT005
print(f"recall of the rare class {history.history['recall'][-1]:.0%}")
