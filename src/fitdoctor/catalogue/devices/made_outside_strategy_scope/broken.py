"""Training with a mirrored strategy."""

import keras
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8), keras.layers.Dense(1)])  # <- FIT604
with strategy.scope():
    model.compile(optimizer="adam", loss="mse")

rng = np.random.default_rng(20)
x = rng.normal(size=(64, 5)).astype("float32")
model.fit(x, x[:, :1], batch_size=16, epochs=1, verbose=0)
