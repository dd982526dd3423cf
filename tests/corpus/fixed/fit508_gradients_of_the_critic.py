"""A generator of sales figures that learns from a critic."""

import keras
import numpy as np
import tensorflow as tf

forger = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(5)]
)
critic = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)]
)
cost = keras.losses.BinaryCrossentropy(from_logits=True)


class Duel(keras.Model):
    def __init__(self):
        super().__init__()
        self.forger, self.critic = forger, critic
        self.rates = [keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)]

    def train_step(self, real):
        rows = tf.shape(real)[0]
        noise = tf.random.normal((rows, 3))
        with tf.GradientTape() as tape:
            judged = self.critic(tf.concat([real, self.forger(noise)], axis=0))
            loss = cost(tf.concat([tf.ones((rows, 1)), tf.zeros((rows, 1))], axis=0), judged)
        moves = tape.gradient(loss, self.critic.trainable_variables)
        self.rates[0].apply_gradients(zip(moves, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            cheat = cost(tf.ones((rows, 1)), self.critic(self.forger(noise)))
        moves = tape.gradient(cheat, self.forger.trainable_variables)
        self.rates[1].apply_gradients(zip(moves, self.forger.trainable_variables))
        return {"critic": loss, "forger": cheat}


sales = np.random.default_rng(0).normal(size=(60, 5)).astype("float32")
duel = Duel()
duel.compile()
duel.fit(sales, batch_size=16, epochs=1, verbose=0)
