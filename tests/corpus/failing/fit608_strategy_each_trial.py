import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6)).astype("float32")
y = x[:, 0] - x[:, 1]


def run_trial(units):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])  # <- FIT608
    with strategy.scope():
        model = tf.keras.Sequential([layers.Input((6,)), layers.Dense(units, activation="relu"), layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse")
    return model.fit(x, y, batch_size=32, epochs=1, verbose=0).history["loss"][-1]


for units in (8, 16, 32):
    print(units, run_trial(units))
