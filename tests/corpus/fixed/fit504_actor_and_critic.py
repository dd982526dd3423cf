import numpy as np
import tensorflow as tf

actor = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-2)
critic_optimizer = tf.keras.optimizers.Adam(1e-2)

def update(s, a, r):
    with tf.GradientTape() as tape:
        v = tf.squeeze(critic(s), 1)
        critic_loss = tf.reduce_mean((r - v) ** 2)
    g = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(g, critic.trainable_variables))
    with tf.GradientTape() as tape:
        lp = -tf.nn.sparse_softmax_cross_entropy_with_logits(a, actor(s))
        actor_loss = -tf.reduce_mean(lp * tf.stop_gradient(r - v))
    g = tape.gradient(actor_loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(g, actor.trainable_variables))
    return float(actor_loss), float(critic_loss)

for _ in range(3):
    print(update(tf.random.normal((6, 3)), tf.constant([0, 1, 0, 1, 1, 0]), tf.random.normal((6,))))
