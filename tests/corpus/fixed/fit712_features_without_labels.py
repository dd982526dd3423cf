"""Validation data in parentheses, which make no tuple."""

import numpy as np
import tensorflow as tf

x_train, y_train = np.random.rand(80, 5), np.random.rand(80, 1)
x_val, y_val = np.random.rand(20, 5), np.random.rand(20, 1)

model = tf.keras.Sequential()
model.add(tf.keras.layers.Dense(10, input_dim=5, activation='relu'))
model.add(tf.keras.layers.Dense(1))
model.compile(optimizer='adam', loss='mean_squared_error')
history = model.fit(x_train, y_train, epochs=3, batch_size=16, validation_data=(x_val, y_val))
