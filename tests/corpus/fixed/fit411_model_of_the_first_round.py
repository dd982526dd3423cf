"""Each round compiles the step for its own model."""

import tensorflow as tf


def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])


model = build()
optimizer = tf.keras.optimizers.SGD(0.05)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
for seed in range(3):
    tf.keras.utils.set_random_seed(seed)
    model = build()
    optimizer = tf.keras.optimizers.SGD(0.05)
    step = tf.function(train_step)
    for _ in range(5):
        loss = step(x, y)
    print(seed, float(loss), float(tf.reduce_mean(tf.square(model(x) - y))))
