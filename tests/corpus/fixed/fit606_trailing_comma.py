import os

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input

os.environ["TF_CONFIG"] = (
    "{"
    '  "cluster": {"worker": ["localhost:23477"]},'
    '  "task": {"type": "worker", "index": 0}'
    "}"
)

communication = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.RING
)
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication)

with strategy.scope():
    net = tf.keras.Sequential([Input((5,)), Dense(12, activation="relu"), Dense(1, activation="sigmoid")])
    net.compile("adam", "binary_crossentropy", metrics=["accuracy"])

x = np.random.default_rng(2).normal(size=(96, 5)).astype("float32")
net.fit(x, (x[:, 0] > 0).astype("float32"), batch_size=24, epochs=1, verbose=2)
