import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Agent:
    def __init__(self, n_obs, n_act):
        self.actor = tf.keras.Sequential([layers.Input((n_obs,)), layers.Dense(16, activation="tanh"), layers.Dense(n_act)])
        self.critic = tf.keras.Sequential([layers.Input((n_obs,)), layers.Dense(16, activation="tanh"), layers.Dense(1)])
        self.actor_opt = tf.keras.optimizers.Adam(1e-3)
        self.critic_opt = tf.keras.optimizers.Adam(1e-2)

    def act(self, obs):
        return int(tf.random.categorical(self.actor(obs[None]), 1)[0, 0])

    def learn(self, obs, actions, returns):
        with tf.GradientTape(persistent=True) as tape:
            values = self.critic(obs)[:, 0]
            advantage = tf.stop_gradient(returns - values)
            logp = tf.nn.log_softmax(self.actor(obs))
            chosen = tf.gather(logp, actions, batch_dims=1)
            actor_loss = -tf.reduce_mean(chosen * advantage)
            critic_loss = tf.reduce_mean(tf.square(returns - values))
        for net, opt, loss in ((self.actor, self.actor_opt, actor_loss), (self.critic, self.critic_opt, critic_loss)):
            opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        del tape
        return float(actor_loss), float(critic_loss)


rng = np.random.default_rng(0)
agent = Agent(4, 2)
for episode in range(3):
    obs = rng.normal(size=(20, 4)).astype("float32")
    actions = np.array([agent.act(o) for o in obs])
    rewards = (actions == (obs[:, 0] > 0)).astype("float32")
    returns = np.cumsum(rewards[::-1])[::-1].copy() / 20.0
    print(episode, agent.learn(tf.constant(obs), tf.constant(actions), tf.constant(returns, tf.float32)))
