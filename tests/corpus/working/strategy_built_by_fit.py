"""A Sequential under a strategy, built by fit."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(1)

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([layers.Dense(8, activation="relu"), layers.BatchNormalization(), layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
x = np.random.rand(70, 8).astype("float32"); y = x.sum(1)
print(model.fit(x, y, epochs=2, verbose=0, validation_split=0.2).history)
