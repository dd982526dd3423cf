"""Devices that are visible already may be set again after TensorFlow has initialized them."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")


def predict(x):
    cpus = tf.config.experimental.list_physical_devices(device_type="CPU")
    tf.config.experimental.set_visible_devices(devices=cpus, device_type="CPU")
    return model.predict(x, verbose=0)


x = tf.random.normal((32, 4), seed=3)
model.fit(x, x[:, :1], verbose=0)
print(predict(x[:2]).shape)
