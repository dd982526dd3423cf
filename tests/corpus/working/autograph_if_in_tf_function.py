import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.05)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        err = y - model(x, training=True)
        loss = tf.reduce_mean(tf.square(err))
    grads = tape.gradient(loss, model.trainable_variables)
    norm = tf.linalg.global_norm(grads)
    if norm > 1.0:
        scale = 1.0 / norm
    else:
        scale = tf.constant(1.0)
    opt.apply_gradients([(g * scale, v) for g, v in zip(grads, model.trainable_variables)])
    return loss


rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
y = tf.reduce_sum(x, axis=1, keepdims=True)
for i in range(5):
    print(i, float(step(x, y)))
