import numpy as np
import tensorflow as tf
def q_net():
    m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
    m.compile("adam", "mse")
    return m
q, target = q_net(), q_net()
target.set_weights(q.get_weights())
opt = tf.keras.optimizers.Adam()
for i in range(4):
    s, s2 = np.random.rand(8, 4).astype("float32"), np.random.rand(8, 4).astype("float32")
    a, r = np.random.randint(0, 2, 8), np.random.rand(8).astype("float32")
    with tf.GradientTape() as tape:
        y = r + 0.99 * target.predict(s2, verbose=0).max(axis=1)
        qa = tf.reduce_sum(q(s) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean((y - qa) ** 2)
    g = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(g, q.trainable_variables))
    if i % 2 == 0:
        target.set_weights(q.get_weights())
