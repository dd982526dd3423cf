"""A Q-network with dropout: one call below the tape trains, the other one only chooses actions for the targets."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

network = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(2)]
)
target_network = keras.models.clone_model(network)
optimizer = keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)

for _step in range(3):
    states, following = tf.constant(rng.normal(size=(2, 8, 4)), tf.float32)
    taken = tf.one_hot(rng.integers(0, 2, 8), 2)
    with tf.GradientTape() as tape:
        values = tf.reduce_sum(network(states, training=True) * taken, axis=1)
        best = tf.one_hot(tf.argmax(network(following), axis=1), 2)
        targets = 1.0 + 0.9 * tf.reduce_sum(target_network(following) * best, axis=1)
        loss = tf.reduce_mean(tf.square(targets - values))
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    print(float(loss))
