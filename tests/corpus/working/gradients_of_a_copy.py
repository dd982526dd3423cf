"""Workers apply the gradients of their copies to the shared network, as A3C does: other variables, and right."""

import tensorflow as tf


def net():
    return tf.keras.Sequential(
        [tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)]
    )


shared, opt = net(), tf.keras.optimizers.Adam(1e-3)
for worker in range(2):
    local = net()
    local.set_weights(shared.get_weights())
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(local(tf.random.normal((5, 4))) ** 2)
    grads = tape.gradient(loss, local.trainable_variables)
    opt.apply_gradients(zip(grads, shared.trainable_variables))
