import tensorflow as tf
import numpy as np
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(1)])
model = model.compile(optimizer='adam', loss='mse')  # <- FIT310
model.fit(np.random.rand(30, 4), np.random.rand(30), epochs=1)
