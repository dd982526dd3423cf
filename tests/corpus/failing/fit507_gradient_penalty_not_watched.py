import numpy as np
import tensorflow as tf

critic = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(1e-3)


def gradient_penalty(real, fake):
    eps = tf.random.uniform((tf.shape(real)[0], 1))
    mixed = eps * real + (1 - eps) * fake
    with tf.GradientTape() as tape:  # <- FIT507
        score = critic(mixed, training=True)
    grads = tape.gradient(score, mixed)  # <~ FIT507
    norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1) + 1e-12)
    return tf.reduce_mean((norm - 1.0) ** 2)


@tf.function
def critic_step(real, fake):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * gradient_penalty(real, fake)
    grads = tape.gradient(loss, critic.trainable_variables)
    opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for step in range(3):
    real = tf.constant(rng.normal(1.0, 0.2, (32, 2)), tf.float32)
    fake = tf.constant(rng.normal(0.0, 1.0, (32, 2)), tf.float32)
    print(step, float(critic_step(real, fake)))
