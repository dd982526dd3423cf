"""Training in a cluster of one worker."""

import json
import os

import numpy as np
import tensorflow as tf

cluster = {"cluster": {"worker": ["localhost:23491"]}, "task": {"type": "worker", "index": 0}}
os.environ["TF_CONFIG"] = json.dumps(cluster)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x = np.random.default_rng(25).normal(size=(32, 3)).astype("float32")
model.fit(x, x[:, :1], epochs=1, verbose=0)
