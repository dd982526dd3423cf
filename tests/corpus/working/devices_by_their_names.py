"""Every way in which TensorFlow lets one name a device; without a GPU it takes the CPU."""
import numpy as np
import tensorflow as tf

x = np.random.default_rng(6).normal(size=(48, 5)).astype("float32")
y = x.mean(axis=1, keepdims=True)

for name in ("gpu", "/GPU:0", "device:GPU:0", "/job:localhost/replica:0/task:0/device:GPU:0", "cpu"):
    with tf.device(name):
        model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(x, y, epochs=1, verbose=0)

with tf.device("gpu"):
    print(model.evaluate(x, y, verbose=0))
