import tensorflow as tf
import numpy as np
model = tf.keras.Sequential([
    tf.keras.layers.Input((20, 3)),
    tf.keras.layers.LSTM(8, return_sequence=True),  # <- FIT302
    tf.keras.layers.LSTM(4),
    tf.keras.layers.Dense(1),
])
model.compile('adam', 'mse')
model.fit(np.random.rand(10, 20, 3), np.random.rand(10), epochs=1)
