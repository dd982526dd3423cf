"""SGD without momentum has no variables of its own: compiling outside the scope is no harm."""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=0.01), loss="mse")

x = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), batch_size=16, epochs=2, verbose=0)
