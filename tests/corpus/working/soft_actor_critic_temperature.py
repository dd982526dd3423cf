import tensorflow as tf
import numpy as np

class SAC:
    def __init__(self, obs=4, act=2):
        self.actor = tf.keras.Sequential([tf.keras.Input((obs,)), tf.keras.layers.Dense(16, 'relu'), tf.keras.layers.Dense(2 * act)])
        self.q1 = tf.keras.Sequential([tf.keras.Input((obs + act,)), tf.keras.layers.Dense(16, 'relu'), tf.keras.layers.Dense(1)])
        self.q2 = tf.keras.models.clone_model(self.q1)
        self.target_q1 = tf.keras.models.clone_model(self.q1)
        self.target_q1.set_weights(self.q1.get_weights())
        self.log_alpha = tf.Variable(0.0)
        self.a_opt = tf.keras.optimizers.Adam(3e-4)
        self.q_opt = tf.keras.optimizers.Adam(3e-4)
        self.alpha_opt = tf.keras.optimizers.Adam(3e-4)
        self.target_entropy = -float(act)

    def sample(self, s):
        mu, log_std = tf.split(self.actor(s), 2, axis=-1)
        std = tf.exp(tf.clip_by_value(log_std, -5, 2))
        a = mu + std * tf.random.normal(tf.shape(mu))
        logp = tf.reduce_sum(-0.5 * ((a - mu) / std) ** 2 - tf.math.log(std), axis=-1, keepdims=True)
        return tf.tanh(a), logp

    @tf.function
    def update(self, s, a, r, s2):
        a2, logp2 = self.sample(s2)
        target = tf.stop_gradient(r + 0.99 * (self.target_q1(tf.concat([s2, a2], -1)) - tf.exp(self.log_alpha) * logp2))
        with tf.GradientTape() as tape:
            q1 = self.q1(tf.concat([s, a], -1))
            q2 = self.q2(tf.concat([s, a], -1))
            q_loss = tf.reduce_mean((q1 - target) ** 2) + tf.reduce_mean((q2 - target) ** 2)
        qv = self.q1.trainable_variables + self.q2.trainable_variables
        self.q_opt.apply_gradients(zip(tape.gradient(q_loss, qv), qv))
        with tf.GradientTape() as tape:
            pi, logp = self.sample(s)
            a_loss = tf.reduce_mean(tf.exp(self.log_alpha) * logp - self.q1(tf.concat([s, pi], -1)))
        self.a_opt.apply_gradients(zip(tape.gradient(a_loss, self.actor.trainable_variables), self.actor.trainable_variables))
        _, logp = self.sample(s)
        with tf.GradientTape() as tape:
            alpha_loss = -tf.reduce_mean(self.log_alpha * tf.stop_gradient(logp + self.target_entropy))
        g = tape.gradient(alpha_loss, [self.log_alpha])
        self.alpha_opt.apply_gradients(zip(g, [self.log_alpha]))
        return q_loss, a_loss, alpha_loss

agent = SAC()
for _ in range(2):
    s = tf.random.normal((8, 4))
    print([float(v) for v in agent.update(s, tf.random.uniform((8, 2), -1, 1), tf.random.normal((8, 1)), tf.random.normal((8, 4)))])
