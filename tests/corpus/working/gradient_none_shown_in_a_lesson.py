"""A lesson on what a tape watches: the gradients that are None are only printed, and the training loop is right."""

import keras
import numpy as np
import tensorflow as tf

a, b = tf.constant(5.0), tf.constant(3.0)
with tf.GradientTape() as tape:
    product = a * b
gradients = tape.gradient(product, [a, b])
print("not watched:", gradients)

with tf.GradientTape() as tape:
    tape.watch([a, b])
    product = a * b
gradients = tape.gradient(product, [a, b])
print("watched:", [float(each) for each in gradients])

model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
x = np.random.default_rng(0).random((16, 3)).astype("float32")
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
