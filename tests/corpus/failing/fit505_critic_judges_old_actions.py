"""An actor whose loss is the critic's value of the stored actions, not of its own."""

import tensorflow as tf
from tensorflow.keras import layers

actor = tf.keras.Sequential([layers.Input((3,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="tanh")])
critic = tf.keras.Sequential([layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
actor_optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def improve(states, actions):
    with tf.GradientTape() as tape:
        chosen = actor(states)
        loss = -tf.reduce_mean(critic(tf.concat([states, actions], axis=1)))  # <- FIT505
    gradients = tape.gradient(loss, actor.trainable_variables)
    actor_optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
    return loss


for _ in range(2):
    improve(tf.random.normal((8, 3)), tf.random.normal((8, 1)))
