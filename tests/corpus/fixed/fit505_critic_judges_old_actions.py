"""The critic judges what the actor chose."""

import tensorflow as tf
from tensorflow.keras import layers

actor = tf.keras.Sequential([layers.Input((3,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="tanh")])
critic = tf.keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
actor_optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def improve(states):
    with tf.GradientTape() as tape:
        chosen = actor(states)
        loss = -tf.reduce_mean(critic(tf.concat([states, chosen], axis=1)))
    gradients = tape.gradient(loss, actor.trainable_variables)
    actor_optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
    return loss


for _ in range(2):
    improve(tf.random.normal((8, 3)))
