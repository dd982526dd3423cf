import numpy as np
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

metric = tf.keras.metrics.MeanAbsoluteError(name="mae")  # a metric may be made outside
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(1e-2), "mse", metrics=[metric])

x = np.random.default_rng(0).normal(size=(128, 4)).astype("float32")
model.fit(x, x[:, 0], batch_size=16 * strategy.num_replicas_in_sync, epochs=1, verbose=2)
