import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
signal = rng.normal(size=(96, 6)).astype("float32")
level = signal.sum(axis=1, keepdims=True)
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train(batch, target):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(net(batch, training=True) - target))
    optimizer.apply_gradients(zip(tape.gradient(error, net.trainable_variables), net.trainable_variables))
    if error > 100.0:
        tf.print("the error is high")
    print("error", error.numpy())  # <- FIT407
    return error


for epoch in range(2):
    train(signal, level)
