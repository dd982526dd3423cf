import tensorflow as tf
import numpy as np

buffer = []
q_net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(2)])
opt = tf.keras.optimizers.Adam(1e-3)

@tf.function
def td_step(s, a, r, s2):
    target = r + 0.99 * tf.reduce_max(q_net(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(q_net(s) * tf.one_hot(a, 2), axis=1)
        td = tf.stop_gradient(target) - q
        loss = tf.reduce_mean(td ** 2)
    g = tape.gradient(loss, q_net.trainable_variables)
    opt.apply_gradients(zip(g, q_net.trainable_variables))
    buffer.append(tf.abs(td))  # <- FIT402
    return loss

for _ in range(10):
    s = tf.random.normal((8, 4)); s2 = tf.random.normal((8, 4))
    a = tf.random.uniform((8,), 0, 2, tf.int32); r = tf.random.normal((8,))
    td_step(s, a, r, s2)
priorities = tf.concat(buffer, axis=0)  # <~ FIT402
print(float(tf.reduce_max(priorities)))
