"""A training step that counts the samples it has seen."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

seen = tf.Variable(0)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    seen.assign_add(tf.shape(x)[0])
    return loss, seen.read_value()


rng = np.random.default_rng(10)
for _ in range(3):
    batch = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    loss, seen = train_step(batch, batch[:, :1])
    print(float(loss), int(seen))
