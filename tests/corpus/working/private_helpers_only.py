"""`to_categorical` of the private Keras returns a plain array."""

import numpy as np
import tensorflow as tf
from tensorflow.python.keras.utils.np_utils import to_categorical
from tensorflow.python.keras.utils import np_utils

x = np.random.rand(30, 4)
y = to_categorical(np.random.randint(0, 3, 30), 3)
y2 = np_utils.to_categorical(np.random.randint(0, 3, 30), 3)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, verbose=0)
model.fit(x, y2, verbose=0)
