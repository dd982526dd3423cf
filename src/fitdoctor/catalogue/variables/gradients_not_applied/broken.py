"""A training loop that computes gradients and never applies them, so the weights never change."""

import tensorflow as tf
from tensorflow import keras

x = tf.random.normal((64, 8), seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
loss_of = keras.losses.MeanSquaredError()

for step in range(20):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)  # <- FIT509
