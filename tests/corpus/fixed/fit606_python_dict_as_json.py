import os

import numpy as np
import tensorflow as tf
import json

cluster = {"cluster": {"worker": ["localhost:23471"]}, "task": {"type": "worker", "index": 0}}
os.environ["TF_CONFIG"] = json.dumps(cluster)

strategy = tf.distribute.MultiWorkerMirroredStrategy()

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = x[:, 0]
model.fit(x, y, batch_size=16, epochs=1, verbose=2)
