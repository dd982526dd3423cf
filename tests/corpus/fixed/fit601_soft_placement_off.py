import numpy as np
import tensorflow as tf

tf.debugging.set_log_device_placement(False)
DEVICE = "/GPU:0" if tf.config.list_physical_devices("GPU") else "/CPU:0"

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6)).astype("float32")
y = x[:, 0] + np.sin(x[:, 1])

with tf.device(DEVICE):
    model = tf.keras.Sequential([
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=2, verbose=2)
