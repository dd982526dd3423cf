"""A model built in the scope of a strategy, or bare on a single device."""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
n = len(tf.config.list_logical_devices("CPU"))


def build():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model


strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
if n > 1:
    with strategy.scope():
        model = build()
else:
    model = build()
x = np.random.rand(32, 3)
model.fit(x, x.sum(1, keepdims=True), verbose=0)

if n > 1:
    with strategy.scope():
        other = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        other.compile("adam", "mse")
else:
    other = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    other.compile("adam", "mse")
other.fit(x, x.sum(1, keepdims=True), verbose=0)
