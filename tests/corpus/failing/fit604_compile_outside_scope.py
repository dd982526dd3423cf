import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration() for _ in range(2)])
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

with strategy.scope():
    inp = layers.Input((16, 16, 1))
    h = layers.Conv2D(8, 3, activation="relu")(inp)
    h = layers.GlobalAveragePooling2D()(h)
    model = tf.keras.Model(inp, layers.Dense(1, activation="sigmoid")(h))

model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])  # <- FIT604

rng = np.random.default_rng(3)
y = rng.integers(0, 2, 64).astype("float32")
x = rng.random((64, 16, 16, 1)).astype("float32") * 0.5
x[y == 1] += 0.4
model.fit(x, y, batch_size=16, epochs=1, verbose=2)
