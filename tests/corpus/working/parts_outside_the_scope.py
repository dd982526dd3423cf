import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
x = np.random.rand(32, 4).astype("float32")
y = np.random.rand(32, 1).astype("float32")

# What may stand outside in Keras 3: metrics, parts that are not trained, layers that are not built yet, and compile.
norm = layers.Normalization()
norm.adapt(x)
base = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu")])
base.trainable = False
head, error = layers.Dense(1), keras.metrics.MeanAbsoluteError()
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), norm, base, head])
    optimizer = keras.optimizers.Adam(1e-3)
model.compile(optimizer=optimizer, loss="mse", metrics=[error])
model.fit(x, y, batch_size=8, verbose=0)
