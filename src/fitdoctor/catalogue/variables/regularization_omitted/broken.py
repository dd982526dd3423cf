"""Shrink the weights with L2 regularization, in a custom loop whose loss omits it (silent)."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(5)
x = rng.normal(size=(64, 4)).astype("float32")
y = x[:, :1] * 3

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_regularizer="l2")])
optimizer = keras.optimizers.Adam(0.05)

for _epoch in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))  # <- FIT510
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

print(f"loss {loss:.3f}, norm of the weights {np.linalg.norm(model.layers[0].kernel):.2f}")
