import json
import os

import keras
import numpy as np
import tensorflow as tf

HOSTS = ["localhost:23473"]


def configure(hosts, rank):
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank}})


def main():
    # ranks are counted from 1 by the scheduler
    rank = int(os.environ.get("MY_RANK", "1"))
    configure(HOSTS, rank - 1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse")
    x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
    model.fit(x, x.sum(axis=1), batch_size=16, epochs=1, verbose=2)


if __name__ == "__main__":
    main()
