import numpy as np
from keras.models import Sequential
from keras.layers import Dense, Input
from keras.optimizers import Adam

class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.model = self._build_model()

    def _build_model(self):
        model = Sequential()
        model.add(Input((self.state_size,)))
        model.add(Dense(24, activation="relu"))
        model.add(Dense(self.action_size, activation="linear"))
        model.compile(loss="mse", optimizer=Adam(learning_rate=0.001))
        return model

    def replay(self, states, targets):
        self.model.fit(states, targets, epochs=1, verbose=0)

agent = DQNAgent(4, 2)
agent.replay(np.random.rand(8, 4), np.random.rand(8, 2))
