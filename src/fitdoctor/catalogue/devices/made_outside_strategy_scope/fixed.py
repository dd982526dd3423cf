"""Training with a mirrored strategy."""

import keras
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")

rng = np.random.default_rng(20)
x = rng.normal(size=(64, 5)).astype("float32")
model.fit(x, x[:, :1], batch_size=16, epochs=1, verbose=0)
