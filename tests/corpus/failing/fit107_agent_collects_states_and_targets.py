import random
from collections import deque
import numpy as np
import tensorflow as tf


class Env:
    def reset(self):
        self.t = 0
        return np.random.rand(4)

    def step(self, action):
        self.t += 1
        return np.random.rand(4), 1.0, self.t > 20, {}


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.memory = deque(maxlen=500)
        self.gamma = 0.95
        self.model = self._build_model()

    def _build_model(self):
        model = tf.keras.Sequential()
        model.add(tf.keras.layers.Dense(16, input_dim=self.state_size, activation="relu"))
        model.add(tf.keras.layers.Dense(self.action_size, activation="linear"))
        model.compile(loss="mse", optimizer=tf.keras.optimizers.Adam(learning_rate=0.001))
        return model

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        states, targets = [], []
        for state, action, reward, next_state, done in minibatch:
            target = self.model.predict(state.reshape(1, -1), verbose=0)[0]
            target[action] = reward if done else reward + self.gamma * np.max(target)
            states.append(state)
            targets.append(target)
        self.model.fit(states, targets, epochs=1, verbose=0)  # <- FIT107


env, agent = Env(), DQNAgent(4, 2)
state = env.reset()
for _ in range(12):
    nxt, reward, done, _info = env.step(0)
    agent.remember(state, 0, reward, nxt, done)
    state = nxt
agent.replay(8)
