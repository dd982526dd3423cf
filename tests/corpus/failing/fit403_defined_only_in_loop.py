import tensorflow as tf
import numpy as np

gamma = 0.9
policy = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam(1e-2)


@tf.function
def reinforce_step(states, actions, rewards):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(tf.float32, size=n)
    g = tf.constant(0.0)
    for i in tf.range(n - 1, -1, -1):
        g = rewards[i] + gamma * g
        best = g if i == n - 1 else tf.maximum(best, g)  # <- FIT403
        returns = returns.write(i, g)
    returns = returns.stack()
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(policy(states))
        chosen = tf.gather(logp, actions, batch_dims=1)
        loss = -tf.reduce_mean(chosen * returns / (best + 1e-6))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss, best


rng = np.random.default_rng(0)
for episode in range(3):
    states = tf.constant(rng.normal(size=(20, 4)), tf.float32)
    actions = tf.constant(rng.integers(0, 2, 20))
    rewards = tf.cast(states[:, 0] > 0, tf.float32)
    loss, best = reinforce_step(states, actions, rewards)
    print(episode, float(loss), float(best))
