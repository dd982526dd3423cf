import argparse

import numpy as np
import tensorflow as tf


def get_strategy(n):
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * n)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(n)])


class DistributedTrainer:
    def __init__(self, args):
        self.strategy = get_strategy(args.replicas)
        self.optimizer = tf.keras.optimizers.Adam(args.lr)  # <- FIT604
        with self.strategy.scope():
            self.model = tf.keras.Sequential(
                [tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)]
            )
            self.model.compile(
                optimizer=self.optimizer,
                loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                metrics=["accuracy"],
            )

    def run(self, x, y):
        self.model.fit(x, y, batch_size=32, epochs=1, verbose=2)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--replicas", type=int, default=2)
    p.add_argument("--lr", type=float, default=1e-3)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(128, 4)).astype("float32")
    DistributedTrainer(p.parse_args()).run(x, x[:, :3].argmax(axis=1))
