"""The optimizer makes its variables before the step is traced again."""

import tensorflow as tf


@tf.function
def train_one_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(y, model(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def build():
    return tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])


x = tf.random.normal((16, 3))
y = tf.random.normal((16, 1))
for name in ["first", "second"]:
    m = build()
    opt = tf.keras.optimizers.Adam(1e-2)
    opt.build(m.trainable_variables)
    for _ in range(3):
        loss = train_one_step(m, opt, x, y)
    print(name, float(loss))
