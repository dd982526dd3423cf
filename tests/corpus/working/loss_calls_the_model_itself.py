import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
xc = tf.constant(np.linspace(0, 1, 32, dtype="float32")[:, None])
def physics_loss(y_true, y_pred):
    with tf.GradientTape() as t:
        t.watch(xc)
        u = model(xc)
    du = t.gradient(u, xc)
    return tf.reduce_mean((du + u) ** 2) + tf.reduce_mean((model(tf.zeros((1, 1))) - 1.0) ** 2)
model.compile("adam", physics_loss)
model.fit(xc, np.zeros((32, 1)), epochs=2, verbose=0)
