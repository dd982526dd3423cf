import numpy as np
import tensorflow as tf

print("GPUs:", tf.config.list_physical_devices("GPU"))

rng = np.random.default_rng(0)
x = rng.normal(size=(120, 6)).astype("float32")
y = x[:, 0] - 0.5 * x[:, 1]

# soft placement is on: without a GPU this runs on the CPU
with tf.device("/GPU:0"):
    model = tf.keras.Sequential([
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, batch_size=20, verbose=2)
