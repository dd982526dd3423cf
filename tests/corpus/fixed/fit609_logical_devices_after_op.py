import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)

rng = np.random.default_rng(1)
x = tf.constant(rng.normal(size=(128, 4)), dtype=tf.float32)
y = tf.reduce_sum(x, axis=1)

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(x.numpy(), y.numpy(), batch_size=32, epochs=1, verbose=2)
