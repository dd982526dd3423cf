import tensorflow as tf
import numpy as np

enc = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
dec = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(6)])
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(enc.trainable_variables + dec.trainable_variables)

@tf.function
def step(x):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean((dec(enc(x)) - x) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, enc.trainable_variables), enc.trainable_variables))
    opt.apply_gradients(zip(tape.gradient(loss, dec.trainable_variables), dec.trainable_variables))
    return loss

for _ in range(3):
    print(float(step(tf.constant(np.random.rand(8, 6), tf.float32))))
