"""A tutorial with three ways to train; the one chosen at the top does not need graph mode."""

import numpy as np
import tensorflow as tf

training_loop = "keras"  # "keras", "custom" or "graph"

if training_loop == "graph":
    tf.compat.v1.disable_eager_execution()

x = np.random.default_rng(0).random((64, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()

if training_loop == "keras":
    model.compile(optimizer=optimizer, loss="mse")
    model.fit(x, y, epochs=1, verbose=0)
if training_loop == "custom":
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
