import numpy as np
import tensorflow as tf

x = np.random.rand(60, 4).astype("float32")
y = np.random.rand(60, 1).astype("float32")
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train_ds, epochs=2)
