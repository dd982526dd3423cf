"""A train step with a penalty that starts after a number of steps."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
step = tf.Variable(0, trainable=False)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        error = y - model(x)
        if step > 3:
            penalty = tf.reduce_mean(tf.abs(error))  # <- FIT404
        loss = tf.reduce_mean(tf.square(error)) + penalty
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    step.assign_add(1)
    return loss


rng = np.random.default_rng(6)
x = tf.constant(rng.normal(size=(32, 3)), tf.float32)
y = tf.reduce_sum(x, axis=1, keepdims=True)
for _ in range(6):
    print(float(train_step(x, y)))
