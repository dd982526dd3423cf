"""A recurrent rollout that collects its outputs in a list."""

import numpy as np
import tensorflow as tf

cell = tf.keras.layers.Dense(2, activation="tanh")
cell.build((None, 2))
optimizer = tf.keras.optimizers.SGD(0.1)
STEPS = 4


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        outputs = []
        for _ in tf.range(STEPS):  # <- FIT403
            x = cell(x)
            outputs.append(x)  # <~ FIT403
        loss = tf.reduce_mean(tf.square(tf.stack(outputs, axis=1) - y))
    gradients = tape.gradient(loss, cell.trainable_variables)
    optimizer.apply_gradients(zip(gradients, cell.trainable_variables))
    return loss


rng = np.random.default_rng(5)
start = tf.constant(rng.normal(size=(16, 2)), tf.float32)
path = tf.constant(rng.normal(size=(16, STEPS, 2)), tf.float32)
for _ in range(3):
    print(float(train_step(start, path)))
