import tensorflow as tf
import numpy as np
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
clone = tf.keras.models.clone_model(model)
opt = tf.keras.optimizers.Adam(1e-3)

def mse(m, x, y):
    return tf.reduce_mean((m(x) - y) ** 2)

x, y = tf.random.normal((10, 1)), tf.random.normal((10, 1))
xq, yq = tf.random.normal((10, 1)), tf.random.normal((10, 1))
for it in range(2):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            l = mse(model, x, y)
        grads = inner.gradient(l, model.trainable_variables)
        for c, v, g in zip(clone.trainable_variables, model.trainable_variables, grads):
            c.assign(v - 0.01 * g)  # <- FIT505
        q = mse(clone, xq, yq)
    g = outer.gradient(q, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
print(float(q))
