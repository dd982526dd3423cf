import numpy as np
import tensorflow as tf

EPOCHS, BATCH = 3, 10
x, y = np.random.rand(60, 4).astype("float32"), np.random.rand(60, 1).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH).repeat(2)
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile("adam", "mse")
m.fit(ds, epochs=EPOCHS, steps_per_epoch=len(x) // BATCH, verbose=0)
