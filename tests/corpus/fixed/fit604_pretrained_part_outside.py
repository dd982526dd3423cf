import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x = np.random.rand(32, 4).astype("float32")
y = np.random.rand(32, 1).astype("float32")

with strategy.scope():
    base = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu")], name="pretrained")
with strategy.scope():
    model = keras.Sequential([base, layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
model.fit(x, y, batch_size=8, verbose=0)
