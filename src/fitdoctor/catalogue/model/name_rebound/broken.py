"""A training loop that stores the loss under the name of the loss function."""

import numpy as np
import tensorflow as tf


def loss(target, output):
    return tf.reduce_mean(tf.abs(target - output))


x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4)])
optimizer = tf.keras.optimizers.Adam()
for start in range(0, 64, 32):
    batch = x[start : start + 32]
    with tf.GradientTape() as tape:
        loss = loss(batch, model(batch, training=True))  # <- FIT331
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
print(float(loss))
