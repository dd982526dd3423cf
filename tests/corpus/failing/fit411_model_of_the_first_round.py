"""A study over several seeds: the compiled step reads `model` by its name, and trains the first one in every round."""

import tensorflow as tf


def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])


model = build()
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
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
    model = build()  # <- FIT411
    optimizer = tf.keras.optimizers.SGD(0.05)
    for _ in range(5):
        loss = train_step(x, y)
    print(seed, float(loss), float(tf.reduce_mean(tf.square(model(x) - y))))
