import keras
import numpy as np
import tensorflow as tf

BATCH_PER_REPLICA = 16

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
rng = np.random.default_rng(46)
x = rng.normal(size=(128, 5)).astype("float32")
rows = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(128).batch(BATCH_PER_REPLICA)  # <- FIT605
with strategy.scope():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(rows, epochs=1, verbose=2)
