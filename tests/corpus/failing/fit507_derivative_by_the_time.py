# PINN: derivative wrt input not watched
import numpy as np, tensorflow as tf
from tensorflow import keras
net = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-3)
t = tf.reshape(tf.linspace(0.0, 1.0, 20), (-1, 1))
for step in range(3):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:  # <- FIT507
            u = net(t)
        du_dt = inner.gradient(u, t)  # <~ FIT507
        loss = tf.reduce_mean(tf.square(du_dt + u))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
