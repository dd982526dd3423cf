"""An object built bare, and built again inside the scope."""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def build():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])


model = build()
model.summary()
optimizer = tf.keras.optimizers.Adam()
with strategy.scope():
    model = build()
    optimizer = tf.keras.optimizers.Adam()
    model.compile(optimizer=optimizer, loss="mse")
x = np.random.rand(32, 3)
model.fit(x, x.sum(1, keepdims=True), verbose=0)
