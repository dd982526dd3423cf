"""Gradient ascent on the input of a model."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1, activation="tanh")])
model.compile("adam", "mse")
rng = np.random.default_rng(17)
x = rng.normal(size=(64, 6)).astype("float32")
model.fit(x, np.tanh(x[:, :1]), epochs=1, verbose=0)

guess = tf.zeros((1, 6))
for _ in range(3):
    with tf.GradientTape() as tape:  # <- FIT507
        liking = tf.reduce_sum(model(guess))
    slope = tape.gradient(liking, guess)
    guess = guess + 0.1 * slope / tf.norm(slope)
