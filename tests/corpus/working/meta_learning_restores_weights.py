import tensorflow as tf
import numpy as np
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(8, 'tanh'), tf.keras.layers.Dense(1)])
meta = tf.keras.optimizers.Adam(1e-3)
def mse(a, b):
    return tf.reduce_mean((a - b) ** 2)
for it in range(2):
    old = model.get_weights()
    x = np.random.rand(10, 1).astype('float32'); y = np.sin(x)
    for _ in range(2):
        with tf.GradientTape() as inner:
            l = mse(model(x), y)
        for v, g in zip(model.trainable_variables, inner.gradient(l, model.trainable_variables)):
            v.assign_sub(0.1 * g)
    with tf.GradientTape() as outer:
        l = mse(model(x + 0.1), tf.sin(x + 0.1))
    g = outer.gradient(l, model.trainable_variables)
    model.set_weights(old)
    meta.apply_gradients(zip(g, model.trainable_variables))
