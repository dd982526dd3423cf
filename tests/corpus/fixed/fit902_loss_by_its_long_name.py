import tensorflow as tf, numpy as np
m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
m.compile("adam", loss=tf.keras.losses.mse, metrics=[tf.keras.metrics.mae])
m.fit(np.random.rand(8, 3), np.random.rand(8, 1), verbose=0)
