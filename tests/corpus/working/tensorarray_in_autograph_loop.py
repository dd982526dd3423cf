import numpy as np
import tensorflow as tf

policy = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
opt = tf.keras.optimizers.Adam(1e-2)


@tf.function
def discounted(rewards, gamma):
    n = tf.shape(rewards)[0]
    out = tf.TensorArray(tf.float32, size=n)
    total = tf.constant(0.0)
    for i in tf.range(n - 1, -1, -1):
        total = rewards[i] + gamma * total
        out = out.write(i, total)
    return out.stack()


@tf.function
def update(states, actions, rewards):
    returns = discounted(rewards, tf.constant(0.9))
    with tf.GradientTape() as tape:
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(states))
        loss = tf.reduce_mean(nll * returns)
    opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for episode in range(3):
    s = tf.constant(rng.normal(size=(15, 3)), tf.float32)
    a = tf.constant(rng.integers(0, 2, 15))
    print(episode, float(update(s, a, tf.cast(s[:, 0] > 0, tf.float32))))
