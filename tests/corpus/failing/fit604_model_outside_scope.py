import keras
import numpy as np
import tensorflow as tf


def build_model(n_in):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])


strategy = tf.distribute.MirroredStrategy()
print("replicas", strategy.num_replicas_in_sync)

model = build_model(5)  # <- FIT604
with strategy.scope():
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])  # <~ FIT604

rng = np.random.default_rng(0)
x = rng.normal(size=(192, 5)).astype("float32")
y = np.abs(x).sum(axis=1)
model.fit(x, y, batch_size=32, epochs=2, verbose=2)
