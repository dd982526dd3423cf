"""Training with a learning rate that falls each epoch."""

import numpy as np
import keras

x = np.random.default_rng(11).normal(size=(64, 5)).astype("float32")
y = x[:, :1] * 2.0

schedule = keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=100, decay_rate=0.9)
halved = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)  # <- FIT325
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=schedule), loss="mse")
model.fit(x, y, epochs=2, callbacks=[halved], verbose=0)
