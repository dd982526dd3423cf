import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
opt = tf.keras.optimizers.Adam()
for i in range(3):
    s, s2 = np.random.rand(8, 4).astype("float32"), np.random.rand(8, 4).astype("float32")
    with tf.GradientTape() as tape:
        y = 0.99 * model.predict(s2, verbose=0).max(axis=1)
        loss = tf.reduce_mean((y - tf.reduce_max(model(s), axis=1)) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
