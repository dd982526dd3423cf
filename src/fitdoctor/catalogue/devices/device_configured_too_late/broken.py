"""Training on a CPU split into two logical devices."""

import numpy as np
import tensorflow as tf

x = tf.constant(np.random.default_rng(22).normal(size=(64, 3)), dtype=tf.float32)
cpu = tf.config.list_physical_devices("CPU")[0]
devices = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, devices)  # <- FIT609

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, x[:, :1], epochs=1, verbose=0)
