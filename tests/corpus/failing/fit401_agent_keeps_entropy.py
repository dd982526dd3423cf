import numpy as np
import tensorflow as tf

class PolicyGradientAgent:
    def __init__(self, obs_dim, n_actions):
        self.net = tf.keras.Sequential([
            tf.keras.Input((obs_dim,)),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(n_actions)])
        self.optimizer = tf.keras.optimizers.Adam(1e-2)
        self.last_entropy = 0.0

    @tf.function
    def learn(self, obs, actions, returns):
        with tf.GradientTape() as tape:
            logits = self.net(obs)
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
            p = tf.nn.softmax(logits)
            self.last_entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), axis=1))  # <- FIT401
            loss = -tf.reduce_mean(logp * returns) - 0.01 * self.last_entropy
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

agent = PolicyGradientAgent(4, 2)
rng = np.random.default_rng(0)
for episode in range(5):
    obs = rng.normal(size=(20, 4)).astype(np.float32)
    act = rng.integers(0, 2, 20)
    ret = np.linspace(1, 0, 20).astype(np.float32)
    loss = agent.learn(tf.constant(obs), tf.constant(act), tf.constant(ret))
    print(f"{episode}: loss {float(loss):.3f} entropy {float(agent.last_entropy):.3f}")  # <~ FIT401
