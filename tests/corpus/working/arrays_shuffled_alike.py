"""Features and labels are shuffled one after the other, but in the same order."""

import numpy as np
from tensorflow import keras

x_train = np.random.rand(40, 4).astype("float32")
y_train = (x_train.sum(axis=1) > 2).astype("float32")
np.random.seed(3)
np.random.shuffle(x_train)
np.random.seed(3)
np.random.shuffle(y_train)
state = np.random.get_state()
np.random.shuffle(x_train)
np.random.set_state(state)
np.random.shuffle(y_train)
order = np.random.permutation(len(x_train))
images, labels = x_train[order], y_train[order]
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(images, labels, verbose=0)
