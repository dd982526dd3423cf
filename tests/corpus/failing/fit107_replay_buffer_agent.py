import random
from collections import deque

import numpy as np
import keras


class DQNAgent:
    def __init__(self, state_dim, n_actions):
        self.memory = deque(maxlen=500)
        self.n_actions = n_actions
        self.gamma = 0.95
        self.model = keras.Sequential([
            keras.Input((state_dim,)),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dense(n_actions),
        ])
        self.model.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))

    def remember(self, s, a, r, s2, done):
        self.memory.append((s, a, r, s2, done))

    def replay(self, batch_size=32):
        batch = random.sample(list(self.memory), batch_size)
        states = [b[0] for b in batch]
        targets = self.model.predict(np.array(states), verbose=0)
        nxt = self.model.predict(np.array([b[3] for b in batch]), verbose=0)
        for i, (_, a, r, _, done) in enumerate(batch):
            targets[i, a] = r if done else r + self.gamma * nxt[i].max()
        return self.model.fit(states, targets, epochs=1, verbose=0)  # <- FIT107


rng = np.random.default_rng(0)
agent = DQNAgent(4, 2)
state = rng.normal(size=4)
for step in range(100):
    action = int(rng.integers(2))
    nxt = rng.normal(size=4)
    agent.remember(state, action, float(nxt[action] > 0), nxt, step % 20 == 19)
    state = nxt
print(agent.replay().history)
