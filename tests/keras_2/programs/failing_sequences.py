import numpy as np
import tensorflow as tf

m = tf.keras.Sequential(
    [
        tf.keras.layers.LSTM(4, input_shape=(5, 2)),  # <- FIT304
        tf.keras.layers.LSTM(4),
        tf.keras.layers.Dense(1),
    ]
)
m.compile("adam", "mse")
m.fit(np.random.rand(16, 5, 2), np.random.rand(16, 1))
