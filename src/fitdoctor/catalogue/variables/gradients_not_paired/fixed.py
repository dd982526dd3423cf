"""A custom training loop that applies the gradients itself."""

import keras
import numpy as np
import tensorflow as tf

x = np.random.default_rng(3).random((64, 5)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)

for epoch in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(epoch, float(loss))
