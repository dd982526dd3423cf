import numpy as np
import tensorflow as tf

tf.debugging.set_log_device_placement(False)
tf.config.set_soft_device_placement(False)  # <~ FIT601

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 6)).astype("float32")
y = x[:, 0] + np.sin(x[:, 1])

with tf.device("/GPU:0"):  # <- FIT601
    model = tf.keras.Sequential([
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, epochs=2, verbose=2)
