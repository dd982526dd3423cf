import numpy as np
import tensorflow as tf

REPLICAS = 2
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(REPLICAS)])

BATCH_SIZE = 1  # <- FIT605

rng = np.random.default_rng(0)
volumes = rng.normal(size=(32, 20)).astype("float32")
dose = volumes[:, :3].sum(axis=1)

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Input((20,)),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")

model.fit(volumes, dose, batch_size=BATCH_SIZE, epochs=1, verbose=2)  # <~ FIT605
