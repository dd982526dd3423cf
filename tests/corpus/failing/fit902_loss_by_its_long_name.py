import tensorflow as tf, numpy as np
m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
m.compile("adam", loss=tf.keras.losses.mean_squared_error, metrics=[tf.keras.metrics.mean_absolute_error])  # <- FIT902
m.fit(np.random.rand(8, 3), np.random.rand(8, 1), verbose=0)
