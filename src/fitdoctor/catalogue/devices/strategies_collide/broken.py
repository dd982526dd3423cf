"""Several trials on two replicas."""

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
rng = np.random.default_rng(21)
x = rng.normal(size=(64, 4)).astype("float32")


def trial(units):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])  # <- FIT608
    with strategy.scope():
        layers = [tf.keras.Input((4,)), tf.keras.layers.Dense(units), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        model.compile(optimizer="adam", loss="mse")
    model.fit(x, x[:, :1], batch_size=16, epochs=1, verbose=0)


for units in (4, 8):
    trial(units)
