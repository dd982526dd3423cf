import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
print("Number of devices:", strategy.num_replicas_in_sync)

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Input((10,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")

x = np.random.default_rng(0).normal(size=(256, 10)).astype("float32")
y = x.sum(axis=1)
model.fit(x, y, batch_size=64, epochs=2, verbose=2)
