"""Rows of y that do not sum to 1: policy gradient by categorical crossentropy, one-hot times the advantage."""
import numpy as np
import keras

rng = np.random.default_rng(0)
states = rng.normal(size=(600, 3)).astype("float32")
policy = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
policy.compile(keras.optimizers.Adam(0.1), "categorical_crossentropy")
for _ in range(15):
    probs = policy.predict(states, verbose=0)
    actions = (rng.random(600) < probs[:, 1]).astype(int)
    reward = np.where(actions == (states[:, 0] > 0), 1.0, -1.0)
    target = keras.utils.to_categorical(actions, 2) * (reward - reward.mean())[:, None]
    policy.fit(states, target, epochs=1, verbose=0, batch_size=100)
right = (policy.predict(states, verbose=0).argmax(1) == (states[:, 0] > 0)).mean()
print(right)
