"""A custom training loop with a gradient tape."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(4)
features = tf.random.normal((64, 3))
targets = tf.reduce_sum(features, axis=1, keepdims=True)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)

for _ in range(3):
    with tf.GradientTape() as tape:
        predictions = model(features, training=True)
    loss = tf.reduce_mean(tf.square(targets - predictions))  # <- FIT507
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
